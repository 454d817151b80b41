//! The bytes of requests.

use cogwork_llm::{ChatRequest, LlmClient, LlmErrorKind, Message, OpenAiClient};

use crate::http::support::{Server, ask, says};

#[tokio::test]
async fn a_plain_request_is_model_and_messages() {
    let server = Server::start([says("Hi.")]).await;
    let request = ChatRequest::new([
        Message::system("Be brief."),
        Message::user("\"2 + 2\"?\n\u{1f914}"),
        Message::assistant("4"),
        Message::user("Sure?"),
    ]);

    server.client().complete(request).await.unwrap();
    insta::assert_snapshot!(server.requests()[0].body, @r#"{"model":"test-model","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"\"2 + 2\"?\n🤔"},{"role":"assistant","content":"4"},{"role":"user","content":"Sure?"}]}"#);
}

#[tokio::test]
async fn settings_of_the_request_go_before_extra_fields() {
    let server = Server::start([says("1"), says("2")]).await;
    let client = OpenAiClient::builder(server.base_url(), "m")
        .with_extra("temperature", 1)
        .with_extra("top_k", 20)
        .with_extra("max_tokens", 50)
        .with_extra(
            "chat_template_kwargs",
            [("enable_thinking", false)]
                .into_iter()
                .collect::<std::collections::HashMap<_, _>>(),
        )
        .build()
        .unwrap();

    let request = ChatRequest::new([Message::user("Go")])
        .with_max_tokens(7)
        .with_temperature(0.2)
        .with_seed(u64::MAX)
        .with_stop(["END", "\n\n"]);

    client.complete(request).await.unwrap();
    ask(&client).await.unwrap();
    insta::assert_snapshot!(server.requests()[0].body, @r#"{"model":"m","messages":[{"role":"user","content":"Go"}],"max_tokens":7,"temperature":0.2,"seed":18446744073709551615,"stop":["END","\n\n"],"chat_template_kwargs":{"enable_thinking":false},"top_k":20}"#);
    insta::assert_snapshot!(server.requests()[1].body, @r#"{"model":"m","messages":[{"role":"user","content":"Hello"}],"chat_template_kwargs":{"enable_thinking":false},"max_tokens":50,"temperature":1,"top_k":20}"#);
}

#[tokio::test]
async fn the_head_names_path_key_and_own_headers() {
    let server = Server::start([says("Hi.")]).await;
    let client = OpenAiClient::builder(format!("{}/", server.base_url()), "m")
        .with_api_key("sk-test-0123456789")
        .with_header("X-Title", "Cogwork")
        .build()
        .unwrap();

    ask(&client).await.unwrap();
    let head = &server.requests()[0].head;
    let mut lines: Vec<&str> = head
        .lines()
        .filter(|line| !line.starts_with("host: "))
        .collect();
    lines[1..].sort_unstable();
    insta::assert_snapshot!(lines.join("\n"), @"
    POST /v1/chat/completions HTTP/1.1
    accept: application/json
    authorization: Bearer sk-test-0123456789
    content-length: 60
    content-type: application/json
    user-agent: cogwork-llm/0.1.0
    x-title: Cogwork
    ");
}

#[tokio::test]
async fn without_a_key_there_is_no_authorization() {
    let server = Server::start([says("Hi.")]).await;
    ask(&server.client()).await.unwrap();
    assert!(!server.requests()[0].head.contains("authorization"));
}

#[tokio::test]
async fn a_temperature_that_is_no_number_is_refused_before_sending() {
    let server = Server::start([says("Hi.")]).await;
    let request = ChatRequest::new([Message::user("Go")]).with_temperature(f32::NAN);
    let error = server.client().complete(request).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert_eq!(
        error.to_string(),
        "invalid request: the temperature is NaN; expected a finite number"
    );
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_client_serves_many_calls_at_once() {
    let server = Server::start((0..20).map(|_| says("Hi."))).await;
    let client = std::sync::Arc::new(server.client());
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { ask(&client).await.unwrap().into_text() })
        })
        .collect();

    for call in calls {
        assert_eq!(call.await.unwrap(), "Hi.");
    }

    assert_eq!(server.requests().len(), 20);
}
