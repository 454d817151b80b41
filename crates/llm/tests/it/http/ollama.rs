//! `OllamaClient`: what it sends, what it reads, and how the server's failures are told.

use std::collections::BTreeMap;

use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, LlmErrorKind as Kind, Message,
    OllamaClient, Usage,
};

use crate::http::support::{Answer, Server, answer, ask, follow, ok, streamed};

fn client(server: &Server) -> OllamaClient {
    OllamaClient::builder(server.origin(), "qwen3:4b")
        .build()
        .unwrap()
}

async fn outcome(answer: Answer) -> Result<ChatResponse, LlmError> {
    let server = Server::start([answer]).await;
    ask(&client(&server)).await
}

const HI: &str = r#"{"message":{"role":"assistant","content":"Hi."},"done":true}"#;

#[tokio::test]
async fn what_a_request_sets_goes_into_the_options() {
    let server = Server::start([ok(HI), ok(HI), ok(HI)]).await;
    let plain = ChatRequest::new([Message::system("Be brief."), Message::user("Hello")]);
    client(&server).complete(plain.clone()).await.unwrap();
    let set = plain
        .with_max_tokens(7)
        .with_temperature(0.2)
        .with_seed(u64::MAX)
        .with_stop(["END"]);

    let client = OllamaClient::builder(format!("{}/api/", server.origin()), "qwen3:4b")
        .with_extra(
            "options",
            BTreeMap::from([("num_ctx", 16_384), ("seed", 1)]),
        )
        .with_extra("think", false)
        .build()
        .unwrap();

    client.complete(set).await.unwrap();
    client
        .stream(ChatRequest::default())
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();

    let seen = server.requests();
    assert!(
        seen.iter()
            .all(|seen| seen.head.starts_with("POST /api/chat HTTP/1.1")),
        "{seen:?}"
    );

    let bodies: Vec<String> = seen.into_iter().map(|seen| seen.body).collect();
    insta::assert_snapshot!(bodies.join("\n"), @r#"
    {"model":"qwen3:4b","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}],"stream":false}
    {"model":"qwen3:4b","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}],"stream":false,"options":{"num_ctx":16384,"num_predict":7,"seed":18446744073709551615,"stop":["END"],"temperature":0.2},"think":false}
    {"model":"qwen3:4b","messages":[],"stream":true,"options":{"num_ctx":16384,"seed":1},"think":false}
    "#);
}

#[tokio::test]
async fn texts_thinking_and_tokens_are_read() {
    let response = outcome(ok(include_str!("fixtures/ollama.json")))
        .await
        .unwrap();
    assert_eq!(
        response,
        ChatResponse::new("Four 🤔.")
            .with_reasoning("Two and two.")
            .with_usage(Usage::new(26, 282))
            .with_model("qwen3:4b")
    );
}

#[tokio::test]
async fn lenient_in_what_a_reply_may_be() {
    for (body, expected) in [
        (r#"{"message":{},"done":true}"#, ChatResponse::default()),
        (
            r#"{"message":{"content":"a","thinking":null},"done_reason":null,"eval_count":3}"#,
            ChatResponse::new("a").with_usage(Usage::new(0, 3)),
        ),
        (
            r#"{"message":{"content":"a"},"done_reason":"length"}"#,
            ChatResponse::new("a").with_finish_reason(FinishReason::Length),
        ),
        (
            r#"{"message":{"content":""},"done_reason":"load"}"#,
            ChatResponse::default().with_finish_reason(FinishReason::Other("load".to_owned())),
        ),
    ] {
        assert_eq!(outcome(ok(body)).await.unwrap(), expected, "{body}");
    }

    let error = outcome(ok("{}")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "decode: the response has no message; expected an object with content (status 200)"
    );
}

#[tokio::test]
async fn failures_have_their_kinds() {
    for (status, message, expected) in [
        (400, "invalid options", Kind::InvalidRequest),
        (404, "model 'qwen3:4b' not found", Kind::InvalidRequest),
        (500, "llama runner process has terminated", Kind::Server),
        (
            503,
            "server busy, please try again.  maximum pending requests exceeded",
            Kind::Overloaded,
        ),
    ] {
        let error = outcome(answer(status, "", &format!(r#"{{"error":"{message}"}}"#)))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), expected);
        let shown = message.replace("  ", " ");
        assert!(
            error
                .to_string()
                .ends_with(&format!("{shown} (status {status})")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn an_error_within_a_stream_is_an_error_with_the_text_so_far() {
    let whole = include_str!("fixtures/ollama.ndjson");
    let begun = &whole[..whole.rfind("{\"model\"").unwrap()];
    let stream =
        format!("{begun}{{\"error\":\"an error was encountered while running the model\"}}\n");
    let server = Server::start([Answer::Raw(streamed(&stream))]).await;
    let error = follow(&client(&server)).await.1.unwrap_err();

    assert_eq!(
        error.to_string(),
        "server: an error was encountered while running the model (status 200)"
    );
    assert_eq!(error.text_so_far(), Some("Four 🤔."));
}
