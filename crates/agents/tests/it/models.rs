//! The settings of servers and models in files, as they reach the server.

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
async fn settings_reach_the_server() {
    let responses = "      provider: openai
      api: responses
      effort: high
      max_tokens: 900
      headers: {x-team: maths}
      extra: {service_tier: flex, reasoning: {summary: auto}}
";
    let responded = r#"{"status":"completed","output":[{"type":"message","role":"assistant",
        "content":[{"type":"output_text","text":"Hi."}]}]}"#;
    let response_parts = [
        "POST /v1/responses HTTP/1.1\r\n",
        "x-team: maths\r\n",
        r#""max_output_tokens":900"#,
        r#""reasoning":{"effort":"high","summary":"auto"}"#,
        r#""service_tier":"flex""#,
    ];

    let messages = "      provider: anthropic\n      extra: {cache_control: {ttl: 1h, type: ephemeral}}\n      effort: low\n";
    let said = r#"{"content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn"}"#;
    let message_parts = [
        r#""cache_control":{"ttl":"1h","type":"ephemeral"}"#,
        r#""output_config":{"effort":"low"}"#,
        r#""thinking":{"type":"adaptive"}"#,
    ];

    for (settings, path, reply, parts) in [
        (responses, "/v1", responded, &response_parts[..]),
        (messages, "", said, &message_parts),
    ] {
        let (answer, request) = run(settings, path, reply).await;
        assert_eq!(answer, "Hi.");
        for part in parts {
            assert!(request.contains(part), "{part}: {request}");
        }
    }
}
