//! Embedders over HTTP: what is sent, what is read, and replies that must be refused.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::http::support::{Answer, Server, answer, ok};
use cogwork_llm::{Embedder, Embeddings, LlmError, LlmErrorKind, OpenAiEmbedder, Usage};

const KEY: &str = "sk-proj-0123456789-abcdef";

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn openai(server: &Server) -> OpenAiEmbedder {
    OpenAiEmbedder::builder(server.base_url(), "small")
        .with_api_key(KEY)
        .build()
        .unwrap()
}

/// What `OpenAiEmbedder` returns for two texts.
async fn outcome(answer: Answer) -> Result<Embeddings, LlmError> {
    let server = Server::start([answer]).await;
    openai(&server).embed(&texts(&["one", "two"])).await
}

async fn refusal(answer: Answer) -> LlmError {
    outcome(answer).await.unwrap_err()
}

#[tokio::test]
async fn openai_requests_and_replies() {
    let reply = r#"{"object": "list", "model": "small-1", "usage": {"prompt_tokens": 7, "total_tokens": 7},
        "data": [{"index": 1, "embedding": [0, -1e-3]}, {"index": 0, "embedding": [0.5, 2]}]}"#;
    let server = Server::start([ok(reply)]).await;

    let embeddings = openai(&server)
        .embed(&texts(&["one", "two"]))
        .await
        .unwrap();
    assert_eq!(embeddings.vectors(), [[0.5, 2.0], [0.0, -0.001]]);
    assert_eq!(embeddings.model(), Some("small-1"));
    assert_eq!(embeddings.usage(), Some(Usage::new(7, 0)));

    let seen = &server.requests()[0];
    assert!(seen.head.starts_with("POST /v1/embeddings HTTP/1.1"));
    assert!(seen.head.contains(&format!("authorization: Bearer {KEY}")));
    assert_eq!(seen.body, r#"{"model":"small","input":["one","two"]}"#);
}

#[tokio::test]
async fn many_texts_are_sent_in_batches() {
    let reply = |count: usize| {
        let vectors = vec![r#"{"embedding": [1,2]}"#; count].join(",");
        let tokens = 10 * count;
        ok(&format!(
            r#"{{"data": [{vectors}], "usage": {{"prompt_tokens": {tokens}}}}}"#
        ))
    };
    let server = Server::start([reply(2), reply(1), reply(1), reply(1)]).await;
    let embedder = openai(&server).with_max_batch(2);

    // The fourth text is larger than a whole batch.
    let large = "x".repeat(300_000);
    let texts = texts(&["one", "two", "three", &large, "five"]);
    let embeddings = embedder.embed(&texts).await.unwrap();

    assert_eq!(embeddings.vectors().len(), 5);
    assert_eq!(embeddings.usage(), Some(Usage::new(50, 0)));
    assert_eq!(server.requests().len(), 4);
    assert!(server.requests()[1].body.ends_with(r#""input":["three"]}"#));
}

#[tokio::test]
async fn no_texts_and_blank_texts_are_not_sent() {
    let server = Server::start([]).await;
    let embeddings = openai(&server).embed(&[]).await.unwrap();
    assert_eq!(embeddings.dimension(), 0);

    let error = openai(&server)
        .embed(&texts(&["one", " "]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert_eq!(error.message(), "texts[1] is blank; expected text to embed");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn replies_without_usable_vectors_are_refused() {
    let cases = [
        (r#"{}"#, "no data"),
        (r#"{"data": []}"#, "0 embeddings for 2 texts"),
        (
            r#"{"data": [{"embedding": [1]}]}"#,
            "1 embeddings for 2 texts",
        ),
        (
            r#"{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}"#,
            "expected 1, as many as the first",
        ),
        (
            r#"{"data": [{"embedding": []}, {"embedding": []}]}"#,
            "embedding 1 is empty",
        ),
        (
            r#"{"data": [{"embedding": [1e39]}, {"embedding": [1]}]}"#,
            "expected a finite number",
        ),
        (
            r#"{"data": [{"embedding": [1e400]}, {"embedding": [1]}]}"#,
            "number out of range",
        ),
        (
            r#"{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}"#,
            "not JSON",
        ),
        (
            r#"{"data": [{"embedding": [null]}, {"embedding": [1]}]}"#,
            "something other than numbers",
        ),
        (
            r#"{"data": [{"embedding": "AACAPw=="}, {"embedding": [1]}]}"#,
            "embedding 1 is empty",
        ),
        (
            r#"{"data": [{"embedding": [[1]]}, {"embedding": [[1]]}]}"#,
            "something other than numbers",
        ),
        (
            r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}"#,
            "gaps or duplicates",
        ),
        (
            r#"{"data": [{"index": 1, "embedding": [1]}, {"index": 2, "embedding": [2]}]}"#,
            "gaps or duplicates",
        ),
        (
            r#"{"data": [{"index": 0, "embedding": [1]}, {"embedding": [2]}]}"#,
            "no index",
        ),
        (r#"[1, 2]"#, "not a valid list of embeddings"),
        ("", "empty"),
    ];

    for (reply, expected) in cases {
        let error = refusal(ok(reply)).await;
        assert_eq!(error.kind(), LlmErrorKind::Decode, "{reply}: {error}");
        assert!(error.to_string().contains(expected), "{reply}: {error}");
    }
}

#[tokio::test]
async fn other_dimensions_than_requested_are_refused() {
    let reply = r#"{"data": [{"embedding": [1, 2, 3]}]}"#;
    let server = Server::start([ok(reply)]).await;
    let embedder = openai(&server).with_dimension(NonZeroUsize::new(2).unwrap());

    let error = embedder.embed(&texts(&["one"])).await.unwrap_err();
    assert_eq!(
        error.message(),
        "the embeddings have 3 dimensions; expected 2, as requested"
    );
}

#[tokio::test]
async fn endless_replies_are_cut_off() {
    let vectors = Answer::Endless(r#"{"data": ["#, r#"{"embedding": [1]},"#.to_owned());
    let numbers = Answer::Endless(r#"{"data": [{"embedding": ["#, "0.25,".to_owned());

    for endless in [vectors, numbers] {
        let server = Server::start([endless]).await;
        let embedder = OpenAiEmbedder::builder(server.base_url(), "small")
            .with_max_response_bytes(100_000)
            .build()
            .unwrap();

        let error = embedder.embed(&texts(&["one"])).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Decode);
        assert!(
            error.message().contains("over the limit of 100000 bytes"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn failures_have_the_same_kinds_as_those_of_clients() {
    let limited = answer(
        429,
        "retry-after: 7\r\n",
        r#"{"error": {"message": "slow down"}}"#,
    );
    let error = refusal(limited).await;
    assert_eq!(error.kind(), LlmErrorKind::RateLimit);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));

    let inside = ok(r#"{"error": {"message": "the input is too long for the context window"}}"#);
    assert_eq!(refusal(inside).await.kind(), LlmErrorKind::ContextLength);

    let error = refusal(answer(404, "", "")).await;
    assert!(
        error
            .message()
            .contains("ends before /embeddings, often in /v1"),
        "{error}"
    );
}

#[tokio::test]
async fn keys_are_not_shown() {
    let echo = format!(r#"{{"data": "{KEY}", "error": {{"message": "{KEY}"}}}}"#);
    for status in [200, 401, 500] {
        let error = refusal(answer(status, "", &echo)).await;
        assert!(!format!("{error:#}").contains("0123456789"), "{error:#}");
    }

    let embedder = OpenAiEmbedder::builder(format!("http://localhost/{KEY}"), "small")
        .with_api_key(KEY)
        .build()
        .unwrap();
    assert!(!format!("{embedder:?}").contains(KEY));
}

#[test]
fn fields_of_the_protocol_cannot_be_set() {
    let builder = OpenAiEmbedder::builder("http://localhost/v1", "small");
    let error = builder
        .with_extra("encoding_format", "base64")
        .with_extra("input", "x")
        .build()
        .unwrap_err();

    for field in ["encoding_format", "input"] {
        let problem = format!("the extra field \"{field}\" is set by the client");
        assert!(error.message().contains(&problem), "{error}");
    }
}
