use insta::assert_snapshot;
use serde_json::json;

use super::{client, solve, think};
use crate::guided::View;

#[tokio::test]
async fn a_session_of_sequentialthinking_as_markdown_and_as_json() {
    let client = client(0).await;
    for thought in [
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
    ] {
        think(&client, "mine", thought).await;
    }

    let text = client.read("cogwork://sessions/mine").await;
    assert_snapshot!(text.expect("a text"));
    let json = client.read_json("cogwork://sessions/mine/json").await;
    assert_eq!(json["sessionId"], "mine");
    assert_eq!(json["kind"], "sequential");
    assert_eq!(json["isComplete"], true);
    assert_eq!(json["entries"].as_array().map(Vec::len), Some(4));
    assert_eq!(json["entries"][1]["thought"], "Then the ones.");
}

#[tokio::test]
async fn a_run_as_markdown_and_as_json_with_the_raw_replies() {
    let client = client(1).await;
    solve(&client, "run", "What is 17 * 3?").await;

    let text = client.read("cogwork://sessions/run").await;
    assert_snapshot!(text.expect("a text"));
    let json = client.read_json("cogwork://sessions/run/json").await;
    assert_eq!(json["entries"][0]["problem"], "What is 17 * 3?");
    let shown = json.to_string();
    assert!(shown.contains(r#""reply":"answer: 51""#), "{shown}");
    let last = json["entries"].as_array().and_then(|all| all.last());
    assert_eq!(last.map(|last| &last["outcome"]), Some(&json!("stopped")));
}

#[tokio::test]
async fn a_guided_session_as_markdown_and_as_json() {
    let client = client(0).await;
    let begin = json!({
        "sessionId": "mine",
        "strategy": "chain_of_thought",
        "problem": "What is\n17 * 3?",
    });
    let mut told = client.accepted("reason", begin).await;
    for reply in [
        "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
        "results:\n- 30\n- 21\n- 51\nanswer: 51",
        "thought: 51 / 3 = 17.\nholds: yes",
    ] {
        let reply = View::of(&told).reply(reply);
        told = client.accepted("reason", reply).await;
    }

    let text = client.read("cogwork://sessions/mine").await;
    assert_snapshot!(text.expect("a text"));
    let json = client.read_json("cogwork://sessions/mine/json").await;
    assert_eq!(json["kind"], "guided");
    assert_eq!(json["entries"].as_array().map(Vec::len), Some(4));
}

#[tokio::test]
async fn a_long_session_is_shown_from_its_end() {
    let client = client(0).await;
    for number in 1..=8 {
        let thought = format!("Thought {number}. {}", "x".repeat(200_000));
        let thought = json!({"thought": thought, "thoughtNumber": number});
        think(&client, "long", thought).await;
    }

    let text = client.read("cogwork://sessions/long").await;
    let text = text.expect("a text");
    assert!(text.contains("\nThought 8. "), "{}", text.len());
    assert!(text.contains("\n3 older thoughts aren't shown."));
    assert!(!text.contains("\nThought 3. "));
    let json = client.read_json("cogwork://sessions/long/json").await;
    assert_eq!(json["olderEntries"], 3);
}
