//! Embedders over HTTP: what is sent, what is read, and replies that must be refused.

use cogwork_llm::embedding::{Embedder, Embeddings, OpenAiEmbedder};
use cogwork_llm::{LlmError, LlmErrorKind, Usage};

use crate::http::support::{Answer, Server, answer, ok};
use crate::table::check;

const KEY: &str = "sk-proj-0123456789-abcdef";

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn openai(server: &Server) -> OpenAiEmbedder {
    let builder = OpenAiEmbedder::builder(server.base_url(), "small").with_api_key(KEY);
    builder.with_max_response_bytes(100_000).build().unwrap()
}

/// What `OpenAiEmbedder` returns for two texts.
async fn outcome(answer: Answer) -> Result<Embeddings, LlmError> {
    let server = Server::start([answer]).await;
    openai(&server).embed(&texts(&["one", "two"])).await
}

#[tokio::test]
async fn openai_requests_and_replies() {
    let reply = r#"{"object": "list", "model": "small-1", "usage": {"prompt_tokens": 7, "total_tokens": 7},
        "data": [{"index": 1, "embedding": [0, -1e-3]}, {"index": 0, "embedding": [0.5, 2]}]}"#;
    let server = Server::start([ok(reply)]).await;

    let texts = texts(&["one", "two"]);
    let embeddings = openai(&server).embed(&texts).await.unwrap();
    assert_eq!(embeddings.vectors(), [[0.5, 2.0], [0.0, -0.001]]);
    assert_eq!(embeddings.model(), Some("small-1"));
    assert_eq!(embeddings.usage(), Some(Usage::new(7, 0)));

    let seen = &server.requests()[0];
    assert!(seen.head.starts_with("POST /v1/embeddings HTTP/1.1"));
    assert!(seen.head.contains(&format!("authorization: Bearer {KEY}")));
    assert_eq!(seen.body, r#"{"model":"small","input":["one","two"]}"#);
}

#[tokio::test]
async fn many_texts_are_sent_in_batches_and_none_and_blank_ones_not_at_all() {
    let reply = |count: usize| {
        let vectors = vec![r#"{"embedding": [1,2]}"#; count].join(",");
        let usage = format!(r#"{{"prompt_tokens": {}}}"#, 10 * count);
        ok(&format!(r#"{{"data": [{vectors}], "usage": {usage}}}"#))
    };
    let server = Server::start([reply(32), reply(32), reply(1)]).await;

    let embedder = openai(&server);

    let all: Vec<String> = (1..=65).map(|number| number.to_string()).collect();
    let embeddings = embedder.embed(&all).await.unwrap();
    assert_eq!(embeddings.vectors().len(), 65);
    assert_eq!(embeddings.usage(), Some(Usage::new(650, 0)));
    assert!(server.requests()[2].body.ends_with(r#""input":["65"]}"#));

    assert_eq!(embedder.embed(&[]).await.unwrap().dimension(), 0);
    let error = embedder.embed(&texts(&["one", " "])).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert_eq!(error.message(), "texts[1] is blank; expected text to embed");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn replies_without_usable_vectors_are_refused() {
    let table = r#"
        {} => the response has no data; expected a list of embeddings
        {"data": []} => the reply has 0 embeddings for 2 texts; expected one for each text
        {"data": [{"embedding": [1]}]} => the reply has 1 embeddings for 2 texts; expected one for each text
        {"data": [{"embedding": [1]}, {"embedding": [1, 2]}]} => embedding 2 has 2 numbers; expected 1, as many as the first
        {"data": [{"embedding": []}, {"embedding": []}]} => embedding 1 has 0 numbers; expected 1 to 65536
        {"data": [{"embedding": [1e39]}, {"embedding": [1]}]} => embedding 1 contains inf; expected finite numbers
        {"data": [{"embedding": [NaN]}, {"embedding": [1]}]} => the response is not JSON: expected value at line 1 column 26
        {"data": [{"embedding": [null]}, {"embedding": [1]}]} | {"data": [{"embedding": [[1]]}, {"embedding": [[1]]}]} => an embedding contains something other than numbers; expected only numbers
        {"data": [{"embedding": "AACAPw=="}, {"embedding": [1]}]} => embedding 1 has 0 numbers; expected 1 to 65536
        [1, 2] => the response is not a JSON object
    "#;
    check(table, async |reply| {
        let error = outcome(ok(reply)).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Decode, "{reply}: {error}");
        error.message().to_owned()
    })
    .await;

    let vectors = Answer::Endless(r#"{"data": ["#, r#"{"embedding": [1]},"#.to_owned());
    let numbers = Answer::Endless(r#"{"data": [{"embedding": ["#, "0.25,".to_owned());
    for endless in [vectors, numbers] {
        let error = outcome(endless).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Decode);
        assert!(error.message().ends_with("over the limit of 100000 bytes"));
    }
}

#[tokio::test]
async fn failures_have_the_same_kinds_as_those_of_clients() {
    let mut told = Vec::new();
    for answer in [
        answer(
            429,
            "retry-after: 7\r\n",
            r#"{"error": {"message": "slow down"}}"#,
        ),
        ok(r#"{"error": {"message": "the input is too long for the context window"}}"#),
        answer(404, "", "no such page"),
    ] {
        let error = outcome(answer).await.unwrap_err().to_string();
        let (_, path) = error.split_once("/v1").unwrap_or(("", &error));
        told.push(path.to_owned());
    }
    insta::assert_snapshot!(told.join("\n"), @"
    rate limit: slow down (status 429, retry after 7s)
    context length: the input is too long for the context window (status 200)
    /embeddings: no such page; expected a base URL that ends before /embeddings, often in /v1 (status 404)
    ");
}

#[tokio::test]
async fn keys_are_not_shown_and_fields_of_the_protocol_cannot_be_set() {
    let echo = format!(r#"{{"data": "{KEY}", "error": {{"message": "{KEY}"}}}}"#);
    for status in [200, 401, 500] {
        let error = outcome(answer(status, "", &echo)).await.unwrap_err();
        assert!(!format!("{error:#}").contains("0123456789"), "{error:#}");
    }

    let builder = OpenAiEmbedder::builder(format!("http://localhost/{KEY}"), "small");
    let builder = builder.with_api_key(KEY);
    let shown = format!("{:?}", builder.build().unwrap());
    assert!(!shown.contains(KEY), "{shown}");

    let builder = OpenAiEmbedder::builder("http://localhost/v1", "small");
    let builder = builder.with_extra("encoding_format", "base64");
    let builder = builder.with_extra("input", "x");
    insta::assert_snapshot!(builder.build().unwrap_err(), @r#"settings: the extra field "encoding_format" is set by the client; choose a different name; the extra field "input" is set by the client; choose a different name"#);
}
