use insta::assert_snapshot;
use serde_json::{Value, json};

use super::support::{called, read, server, solve, think};
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
async fn a_run_as_markdown() {
    let host = Host::connect(&server(1), Era::Discover).await;
    solve(&host, "run", "What is 17 * 3?").await;
    let text = read(&host, "cogwork://sessions/run").await;
    assert_snapshot!(text.expect("a text"));
}

#[tokio::test]
async fn a_guided_session_as_markdown_and_as_json() {
    let host = Host::connect(&server(0), Era::Discover).await;
    let begin = json!({
        "sessionId": "mine",
        "strategy": "chain_of_thought",
        "problem": "What is\n17 * 3?",
    });
    called(&host, "reason", begin).await;
    for reply in [
        "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
        "results:\n- 30\n- 21\n- 51\nanswer: 51",
        "thought: 51 / 3 = 17.\nholds: yes",
    ] {
        called(&host, "reason", json!({"reply": reply})).await;
    }

    let text = read(&host, "cogwork://sessions/mine").await;
    assert_snapshot!(text.expect("a text"));
    let data = read(&host, "cogwork://sessions/mine/json").await;
    let data: Value = serde_json::from_str(&data.expect("a text")).expect("JSON");
    assert_eq!(data["kind"], "guided");
    assert_eq!(data["entries"].as_array().map(Vec::len), Some(4));
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
    let host = Host::connect(&server(0), Era::Initialize).await;
    for number in 1..=8 {
        let thought = format!("Thought {number}. {}", "x".repeat(200_000));
        let thought = json!({"thought": thought, "thoughtNumber": number});
        think(&host, "long", thought).await;
    }

    let text = read(&host, "cogwork://sessions/long").await;
    let text = text.expect("a text");
    assert!(text.contains("\nThought 8. "), "{}", text.len());
    assert!(text.contains("\n3 older thoughts aren't shown."));
    assert!(!text.contains("\nThought 3. "));

    let json = read(&host, "cogwork://sessions/long/json").await;
    let json: Value = serde_json::from_str(&json.expect("a text")).expect("JSON");
    assert_eq!(json["olderEntries"], 3);
}
