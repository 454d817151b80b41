//! What the clients make of the bodies that a real server sent, byte for byte. `fixtures/llama_server/README.md`
//! says which server, and what it was asked.

use std::fmt::Write;
use std::path::Path;

use cogwork_llm::{ChatResponse, LlmError};

use crate::http::support::{Protocol, answer};

/// What a client makes of a file named `what.status.json` or `what.sse`. Those that begin with `messages` are in
/// Anthropic's protocol.
async fn outcome(path: &Path, body: &str) -> Result<ChatResponse, LlmError> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let protocol = match name.starts_with("messages") {
        true => Protocol::Messages,
        false => Protocol::Chat,
    };
    match name.split('.').nth(1).unwrap() {
        "sse" => protocol.events(body).await.1,
        status => {
            protocol
                .outcome(answer(status.parse().unwrap(), "", body))
                .await
        }
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
        let (read, cached) = (usage.prompt_tokens, usage.cached_tokens);
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
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
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
