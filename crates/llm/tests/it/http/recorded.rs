//! What the clients make of the bodies that a real server sent, byte for byte. `fixtures/llama_server/README.md`
//! says which server, and what it was asked.

use std::fmt::Write;
use std::path::Path;

use cogwork_llm::{AnthropicClient, ChatResponse, LlmClient, LlmError};

use crate::http::support::{Answer, Server, answer, ask, follow, streamed};

/// What a client makes of a file named `what.status.json` or `what.sse`. Those that begin with `messages` are in
/// Anthropic's protocol.
async fn outcome(path: &Path, body: &str) -> Result<ChatResponse, LlmError> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let is_stream = name.ends_with(".sse");
    let status = name.split('.').nth(1).unwrap().parse().unwrap_or(200);
    let whole = answer(status, "content-type: application/json\r\n", body);
    let server = Server::start([if is_stream {
        Answer::Raw(streamed(body))
    } else {
        whole
    }])
    .await;

    let client: Box<dyn LlmClient> = if name.starts_with("messages") {
        Box::new(
            AnthropicClient::builder(server.origin(), "m")
                .build()
                .unwrap(),
        )
    } else {
        Box::new(server.client())
    };

    if is_stream {
        follow(&client).await.1
    } else {
        ask(&client).await
    }
}

fn told(outcome: Result<ChatResponse, LlmError>) -> String {
    let response = match outcome {
        Ok(response) => response,
        Err(error) => return format!("  {error}\n"),
    };
    let mut told = format!("  {:?}, {:?}\n", response.text(), response.finish_reason());
    for call in response.tool_calls() {
        // The server makes up an id for each call.
        assert!(!call.id().is_empty());
        let _ = writeln!(told, "  call of {}: {}", call.name(), call.arguments());
    }

    if let Some(usage) = response.usage() {
        let read = usage.prompt_tokens;
        let cached = usage.cached_tokens;
        let written = usage.completion_tokens;
        let _ = writeln!(
            told,
            "  {read} tokens read, {cached} of them cached, {written} written"
        );
    }

    let _ = writeln!(told, "  model: {}", response.model().unwrap_or("not told"));
    told
}

#[tokio::test]
async fn bodies_of_a_real_server_are_read_as_they_are_meant() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/http/fixtures/llama_server");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().unwrap() != "md");
    files.sort();

    let mut all = String::new();
    for path in files {
        let body = std::fs::read_to_string(&path).unwrap();
        let _ = writeln!(all, "{}", path.file_name().unwrap().to_str().unwrap());
        all += &told(outcome(&path, &body).await);
    }

    insta::assert_snapshot!(all);
}
