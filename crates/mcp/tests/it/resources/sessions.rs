use insta::assert_snapshot;
use serde_json::{Value, json};

use super::support::{read, server, solve, think};
use crate::host::{Era, Host};

async fn host_with_thoughts() -> Host {
    let host = Host::connect(&server(0), Era::Initialize).await;
    let thoughts = [
        json!({"thought": "First,\nthe tens.", "thoughtNumber": 1}),
        json!({"thought": "Then the ones.", "thoughtNumber": 2}),
        json!({
            "thought": "Or all at once.",
            "thoughtNumber": 2,
            "branchFromThought": 1,
            "branchId": "other",
        }),
        json!({
            "thought": "No, the ones first.",
            "thoughtNumber": 3,
            "isRevision": true,
            "revisesThought": 1,
            "nextThoughtNeeded": false,
        }),
    ];
    for thought in thoughts {
        think(&host, "mine", thought).await;
    }
    host
}

#[tokio::test]
async fn a_session_of_sequentialthinking_as_markdown() {
    let host = host_with_thoughts().await;

    let text = read(&host, "cogwork://sessions/mine").await;

    assert_snapshot!(text.expect("a text"));
}

#[tokio::test]
async fn a_session_of_sequentialthinking_as_mermaid() {
    let host = host_with_thoughts().await;

    let drawing = read(&host, "cogwork://sessions/mine/mermaid").await;

    assert_snapshot!(drawing.expect("a drawing"));
}

#[tokio::test]
async fn a_session_as_json_contains_all_entries() {
    let host = host_with_thoughts().await;

    let json = read(&host, "cogwork://sessions/mine/json").await;

    let json: Value = serde_json::from_str(&json.expect("a text")).expect("JSON");
    assert_eq!(json["sessionId"], "mine");
    assert_eq!(json["kind"], "sequential");
    assert_eq!(json["isComplete"], true);
    assert_eq!(json["entries"].as_array().map(Vec::len), Some(4));
    assert_eq!(json["entries"][1]["thought"], "Then the ones.");
}

#[tokio::test]
async fn a_run_as_markdown_and_as_mermaid() {
    let host = Host::connect(&server(1), Era::Discover).await;
    solve(&host, "run", "What is 17 * 3?").await;

    let text = read(&host, "cogwork://sessions/run").await;
    let drawing = read(&host, "cogwork://sessions/run/mermaid").await;

    assert_snapshot!(text.expect("a text"));
    assert_snapshot!(drawing.expect("a drawing"));
}

#[tokio::test]
async fn a_run_as_json_contains_the_raw_replies() {
    let host = Host::connect(&server(1), Era::Discover).await;
    solve(&host, "run", "What is 17 * 3?").await;

    let json = read(&host, "cogwork://sessions/run/json").await;

    let json = json.expect("a text");
    let value: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["entries"][0]["problem"], "What is 17 * 3?");
    assert!(json.contains(r#""reply":"answer: 51""#), "{json}");
    let last = value["entries"]
        .as_array()
        .and_then(|entries| entries.last());
    assert_eq!(last.map(|last| &last["outcome"]), Some(&json!("stopped")));
}

#[tokio::test]
async fn a_long_session_is_shown_from_its_end() {
    use cogwork_mcp::{Server, ServerLimits};

    let limits = ServerLimits {
        export_bytes: 1_000,
        ..ServerLimits::default()
    };
    let server = Server::builder()
        .with_limits(limits)
        .open()
        .expect("it opens");
    let host = Host::connect(&server, Era::Initialize).await;
    for number in 1..=50 {
        let thought = format!("Thought {number}.");
        think(
            &host,
            "long",
            json!({"thought": thought, "thoughtNumber": number}),
        )
        .await;
    }

    let text = read(&host, "cogwork://sessions/long")
        .await
        .expect("a text");
    let drawing = read(&host, "cogwork://sessions/long/mermaid")
        .await
        .expect("a text");

    assert!(text.contains("\nThought 50.\n"), "{text}");
    assert!(!text.contains("\nThought 1.\n"), "{text}");
    assert!(text.contains("older entries aren't shown."), "{text}");
    assert!(drawing.contains("older thoughts aren't shown"), "{drawing}");
    assert!(text.len() < 4_000);
}
