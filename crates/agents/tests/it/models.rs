//! The settings of servers and models in files, as they reach the server.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_agents::{FlowState, Loader};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Answers one request with this body. Returns the address, and the request once it has come.
async fn serve(body: &'static str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());

    let request = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        // A request of this test ends with its body, a JSON object.
        while !request.ends_with(b"}") {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).await.unwrap();
            request.extend_from_slice(&bytes[..count]);
        }

        let length = body.len();
        let response = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(response.as_bytes()).await.unwrap();
        String::from_utf8(request).unwrap()
    });
    (address, request)
}

/// Runs a file with one agent and these settings. Returns its answer, and the request.
async fn run(settings: &str, path: &str, reply: &'static str) -> (String, String) {
    let (address, request) = serve(reply).await;
    let file = format!(
        "nodes:\n  - id: agent\n    type: agent\n    config:\n      name: some-model\n      \
         base_url: {address}{path}\n{settings}"
    );
    let flow = Loader::new().load_text("flow.yaml", &file).unwrap();

    let mut state = FlowState::new("Hello?");
    flow.flow().run(&mut state).await.unwrap();
    (state.last().text.clone(), request.await.unwrap())
}

#[tokio::test]
async fn responses_with_effort_headers_and_extra_fields() {
    let settings = "      provider: openai
      api: responses
      effort: high
      max_tokens: 900
      headers: {x-team: maths}
      extra: {service_tier: flex, reasoning: {summary: auto}}
";
    let reply = r#"{"status":"completed","output":[{"type":"message","role":"assistant",
        "content":[{"type":"output_text","text":"Hi."}]}]}"#;
    let (answer, request) = run(settings, "/v1", reply).await;

    assert_eq!(answer, "Hi.");
    for part in [
        "POST /v1/responses HTTP/1.1\r\n",
        "x-team: maths\r\n",
        r#""max_output_tokens":900"#,
        r#""reasoning":{"effort":"high","summary":"auto"}"#,
        r#""service_tier":"flex""#,
    ] {
        assert!(request.contains(part), "{part}: {request}");
    }
}

#[tokio::test]
async fn an_hour_of_cache_and_an_effort() {
    let settings = "      provider: anthropic\n      cache: 1h\n      effort: low\n";
    let reply = r#"{"content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn"}"#;
    let (answer, request) = run(settings, "", reply).await;

    assert_eq!(answer, "Hi.");
    for field in [
        r#""cache_control":{"ttl":"1h","type":"ephemeral"}"#,
        r#""output_config":{"effort":"low"}"#,
        r#""thinking":{"type":"adaptive"}"#,
    ] {
        assert!(request.contains(field), "{field}: {request}");
    }
}

#[test]
fn mistakes_are_named() {
    let file = "nodes:
  - id: agent
    type: agent
    config:
      provider: openai
      name: some-model
      cache: 1h
      api: chats
      effort: extreme
      headers: {'bad name': x}
      extra: {model: other}
";
    let error = Loader::new().load_text("flow.yaml", file).unwrap_err();
    insta::assert_snapshot!(format!("{error:#}"));

    let file = file
        .replace("      cache: 1h\n", "")
        .replace("chats", "chat")
        .replace("extreme", "max");
    let error = Loader::new().load_text("flow.yaml", &file).unwrap_err();
    insta::assert_snapshot!(format!("{error:#}"));
}
