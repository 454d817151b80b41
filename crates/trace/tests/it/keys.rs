//! No key of a client is in a record, even if the server repeats everything that it was sent.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use cogwork_ask::Reporting;
use cogwork_flow::{Flow, from_phases};
use cogwork_llm::{AnthropicClient, ChatRequest, LlmClient, Message, OllamaClient, OpenAiClient};
use cogwork_trace::RecorderSettings;

use crate::support::TestRecord;

const KEY: &str = "sk-canary-8731";
const HEADER: &str = "canary-header-55";
const PASSWORD: &str = "canary-password-1";

/// Starts a server that refuses every request, and repeats it. Returns its port.
fn repeating_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();

    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 64 * 1024];
            let length = stream.read(&mut request).unwrap();
            let body = String::from_utf8_lossy(&request[..length]).into_owned();
            let body = serde_json::json!({ "error": { "message": body } }).to_string();
            let head = format!(
                "HTTP/1.1 401 Unauthorized\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });

    port
}

fn clients(base_url: &str) -> Vec<Arc<dyn LlmClient>> {
    let openai = OpenAiClient::builder(format!("{base_url}/v1"), "small-1");
    let anthropic = AnthropicClient::builder(base_url, "small-1");
    let ollama = OllamaClient::builder(base_url, "small-1");

    vec![
        Arc::new(
            openai
                .with_api_key(KEY)
                .with_header("x-token", HEADER)
                .build()
                .unwrap(),
        ),
        Arc::new(
            anthropic
                .with_api_key(KEY)
                .with_header("x-token", HEADER)
                .build()
                .unwrap(),
        ),
        Arc::new(
            ollama
                .with_api_key(KEY)
                .with_header("x-token", HEADER)
                .build()
                .unwrap(),
        ),
    ]
}

async fn recorded(client: Arc<dyn LlmClient>) -> String {
    let client = Reporting::new(client);
    let ask = from_phases(
        |_: &mut u32| (),
        move |()| {
            let client = client.clone();
            async move {
                client
                    .complete(ChatRequest::new([Message::user("Hi.")]))
                    .await
            }
        },
        |_, _, _| (),
    );
    let flow = Flow::from_node("ask", ask).unwrap();

    let record = TestRecord::new();
    let recorder = record.recorder(RecorderSettings::default());
    let mut run = flow.begin().with_events(&recorder);
    run.finish(&mut 0).await.unwrap_err();
    recorder.flush().unwrap();

    record.text()
}

/// Clients accept no such address, so none can be recorded.
#[test]
fn of_an_address_with_a_password() {
    let address = format!("http://user:{PASSWORD}@127.0.0.1:8080");
    let errors = [
        OpenAiClient::builder(address.as_str(), "small-1")
            .build()
            .err(),
        AnthropicClient::builder(address.as_str(), "small-1")
            .build()
            .err(),
        OllamaClient::builder(address.as_str(), "small-1")
            .build()
            .err(),
    ];

    for error in errors {
        let error = error.unwrap().to_string();
        assert!(!error.contains("canary"), "{error}");
    }
}

#[tokio::test]
async fn of_every_client() {
    let port = repeating_server();
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();

    for port in [port, closed] {
        let base_url = format!("http://127.0.0.1:{port}");
        for client in clients(&base_url) {
            let text = recorded(client).await;
            assert!(text.contains("chat_failed"), "{text}");
            assert!(!text.contains("canary"), "{text}");
        }
    }
}
