//! What the clients make of the bodies that a real server sent, byte for byte. `fixtures/llama_server/README.md`
//! says which server, and what it was asked.

use std::path::Path;

use crate::http::support::{Protocol, answer, told};

/// What a client makes of a file named `what.status.json` or `what.sse`. Those that begin with `messages` are in
/// Anthropic's protocol.
async fn outcome(path: &Path) -> String {
    let body = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let protocol = match name.starts_with("messages") {
        true => Protocol::Messages,
        false => Protocol::Chat,
    };
    let outcome = match name.split('.').nth(1).unwrap() {
        "sse" => protocol.events(&body).await.1,
        status => {
            let answer = answer(status.parse().unwrap(), "", &body);
            protocol.outcome(answer).await
        }
    };
    format!("{name}\n  {}", told(outcome))
}

#[tokio::test]
async fn bodies_of_a_real_server_are_read_as_they_are_meant() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/http/fixtures/llama_server");
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().unwrap() != "md");
    files.sort();

    let mut all = Vec::new();
    for path in files {
        all.push(outcome(&path).await);
    }
    insta::assert_snapshot!(all.join("\n"));
}
