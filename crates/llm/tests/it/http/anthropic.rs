//! `AnthropicClient`: what it sends, what it reads, and how the API's failures are told.

use cogwork_llm::{
    AnthropicClient, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError,
    LlmErrorKind as Kind, Message, Usage,
};

use crate::http::support::{Answer, Server, answer, ask, follow, ok, streamed};

fn client(server: &Server) -> AnthropicClient {
    AnthropicClient::builder(server.origin(), "claude")
        .build()
        .unwrap()
}

async fn outcome(answer: Answer) -> Result<ChatResponse, LlmError> {
    let server = Server::start([answer]).await;
    ask(&client(&server)).await
}

const HI: &str = r#"{"content":[{"type":"text","text":"Hi."}]}"#;

#[tokio::test]
async fn the_head_names_path_version_and_key() {
    let server = Server::start([ok(HI)]).await;

    // A base URL with the version in it is as good as one without.
    let client = AnthropicClient::builder(server.base_url(), "claude")
        .with_api_key("sk-ant-0123456789")
        .build()
        .unwrap();
    assert_eq!(ask(&client).await.unwrap(), ChatResponse::new("Hi."));
    let head = &server.requests()[0].head;
    let mut lines: Vec<&str> = head
        .lines()
        .filter(|line| !line.starts_with("host: "))
        .collect();

    lines[1..].sort_unstable();
    insta::assert_snapshot!(lines.join("\n"), @"
    POST /v1/messages HTTP/1.1
    accept: application/json
    anthropic-version: 2023-06-01
    content-length: 83
    content-type: application/json
    user-agent: cogwork-llm/0.1.0
    x-api-key: sk-ant-0123456789
    ");
}

#[tokio::test]
async fn system_messages_go_where_the_api_wants_them() {
    let server = Server::start([ok(HI), ok(HI), ok(HI)]).await;
    let request = ChatRequest::new([
        Message::system("Be brief."),
        Message::system("Be kind."),
        Message::user("2 + 2?"),
        Message::assistant("4"),
        Message::system("Now be rude."),
        Message::user("Sure?"),
    ]);

    let settings = request
        .clone()
        .with_max_tokens(7)
        .with_temperature(0.2)
        .with_seed(1)
        .with_stop(["END"]);

    client(&server).complete(request).await.unwrap();
    let client = AnthropicClient::builder(server.origin(), "claude")
        .with_extra("max_tokens", 50)
        .with_extra("top_k", 20)
        .build()
        .unwrap();

    client
        .complete(settings.with_messages([Message::user("Hi")].into_iter().collect()))
        .await
        .unwrap();
    client
        .stream(ChatRequest::default())
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();

    let bodies: Vec<String> = server
        .requests()
        .into_iter()
        .map(|seen| seen.body)
        .collect();

    insta::assert_snapshot!(bodies.join("\n"), @r#"
    {"model":"claude","max_tokens":4096,"system":"Be brief.\n\nBe kind.","messages":[{"role":"user","content":"2 + 2?"},{"role":"assistant","content":"4"},{"role":"user","content":"Now be rude."},{"role":"user","content":"Sure?"}]}
    {"model":"claude","max_tokens":7,"messages":[{"role":"user","content":"Hi"}],"temperature":0.2,"stop_sequences":["END"],"top_k":20}
    {"model":"claude","messages":[],"stream":true,"max_tokens":50,"top_k":20}
    "#);
}

#[tokio::test]
async fn texts_thinking_and_all_tokens_are_read() {
    let response = outcome(ok(include_str!("fixtures/anthropic.json")))
        .await
        .unwrap();
    assert_eq!(
        (response.text(), response.reasoning()),
        ("Four 🤔.", Some("Two and two."))
    );
    assert_eq!(
        response.usage(),
        Some(Usage::new(1125, 15).with_cached_tokens(1000))
    );
    assert_eq!(response.model(), Some("claude-sonnet-4-5-20250929"));
}

#[tokio::test]
async fn lenient_in_what_a_reply_may_be() {
    for (body, expected) in [
        (r#"{"content":[]}"#, ChatResponse::default()),
        (
            r#"{"content":[{"type":"server_tool_use","input":{}},{"type":"text","text":"a"},7,{"text":"b"}],"usage":null}"#,
            ChatResponse::new("ab"),
        ),
        (
            r#"{"content":[],"stop_reason":"max_tokens","usage":{"output_tokens":3}}"#,
            ChatResponse::default()
                .with_finish_reason(FinishReason::Length)
                .with_usage(Usage::new(0, 3)),
        ),
        (
            r#"{"content":[],"stop_reason":"pause_turn"}"#,
            ChatResponse::default()
                .with_finish_reason(FinishReason::Other("pause_turn".to_owned())),
        ),
        (
            r#"{"content":[{"text":"No"}],"stop_reason":"refusal"}"#,
            ChatResponse::new("No").with_finish_reason(FinishReason::ContentFilter),
        ),
    ] {
        assert_eq!(outcome(ok(body)).await.unwrap(), expected, "{body}");
    }

    for (body, said) in [
        (
            "{}",
            "decode: the response has no content; expected an array of blocks (status 200)",
        ),
        (
            r#"{"content":[],"stop_reason":"refusal"}"#,
            "content filter: the model refused without a reason (status 200)",
        ),
        (
            "[]",
            "decode: the response has no content; expected an array of blocks (status 200)",
        ),
        (
            r#"{"content":7}"#,
            "decode: the response is not a valid message: invalid type: integer `7`, expected a sequence at line 1 column 12 (status 200)",
        ),
    ] {
        assert_eq!(
            outcome(ok(body)).await.unwrap_err().to_string(),
            said,
            "{body}"
        );
    }
}

#[tokio::test]
async fn failures_have_their_kinds() {
    let body = |kind: &str, message: &str| {
        format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
        )
    };
    for (status, kind, message, expected) in [
        (400, "invalid_request_error", "m", Kind::InvalidRequest),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 200001 tokens > 200000 maximum",
            Kind::ContextLength,
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
            Kind::Quota,
        ),
        (
            401,
            "authentication_error",
            "invalid x-api-key",
            Kind::Authentication,
        ),
        (402, "billing_error", "m", Kind::Quota),
        (403, "permission_error", "m", Kind::Authentication),
        (413, "request_too_large", "m", Kind::InvalidRequest),
        (429, "rate_limit_error", "m", Kind::RateLimit),
        (500, "api_error", "m", Kind::Server),
        (504, "timeout_error", "m", Kind::Timeout),
        (529, "overloaded_error", "Overloaded", Kind::Overloaded),
    ] {
        let error = outcome(answer(
            status,
            "request-id: req_1\r\n",
            &body(kind, message),
        ))
        .await
        .unwrap_err();

        let said = message.trim_end_matches('.');
        assert!(
            error
                .to_string()
                .starts_with(&format!("{expected}: {said}")),
            "{error}"
        );

        assert!(
            error
                .to_string()
                .ends_with(&format!(" (status {status}, request req_1)")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_wrong_address_is_named() {
    let server = Server::start([answer(404, "", "no such page")]).await;
    assert_eq!(
        ask(&client(&server)).await.unwrap_err().to_string(),
        format!(
            "invalid request: POST {}/messages: no such page; expected a base URL that ends before /v1/messages \
             (status 404)",
            server.base_url()
        )
    );

    let error = AnthropicClient::builder("https://host/v1/messages", "m")
        .build()
        .unwrap_err();
    assert_eq!(
        error.message(),
        "the base URL \"https://host/v1/messages\" ends in /v1/messages, which the client appends; \
         expected it to end before that"
    );
}

#[tokio::test]
async fn an_error_within_a_stream_has_its_kind_and_the_text_so_far() {
    let whole = include_str!("fixtures/anthropic.sse");
    let begun = &whole[..whole.find("event: message_delta").unwrap()];
    for (kind, expected) in [
        ("overloaded_error", Kind::Overloaded),
        ("rate_limit_error", Kind::RateLimit),
        ("api_error", Kind::Server),
        ("timeout_error", Kind::Timeout),
        ("invalid_request_error", Kind::InvalidRequest),
    ] {
        let event = format!(
            "event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"m\"}}}}\n\n"
        );
        let server = Server::start([Answer::Raw(streamed(&format!("{begun}{event}")))]).await;
        let error = follow(&client(&server)).await.1.unwrap_err();
        assert_eq!(error.to_string(), format!("{expected}: m (status 200)"));
        assert_eq!(error.text_so_far(), Some("Four 🤔."));
    }
}

#[tokio::test]
async fn events_that_nobody_knows_yet_are_passed_over() {
    let stream = include_str!("fixtures/anthropic.sse").replace(
        "event: ping\ndata: {\"type\": \"ping\"}\n",
        "event: mood\ndata: {\"type\":\"mood\",\"delta\":{\"text\":\"gloomy\"}}\n\nevent: content_block_delta\ndata: \
         {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"mood_delta\",\"mood\":\"gloomy\"}}\n",
    );

    let server = Server::start([Answer::Raw(streamed(&stream))]).await;
    assert_eq!(follow(&client(&server)).await.1.unwrap().text(), "Four 🤔.");
}
