use cogwork_mcp::{Server, ServerLimits};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::support::{called, read, server};
use crate::host::{Era, Host};

#[tokio::test]
async fn a_session_of_think_in_every_format() {
    let host = Host::connect(&server(0), Era::Discover).await;
    let first = json!({
        "sessionId": "mine",
        "strategy": "react",
        "stage": "problem_reception",
        "thought": "# What is\n17 * 3?",
    });
    called(&host, "think", first).await;
    let second = json!({"stage": "initial_reasoning", "thought": "\"] --> evil"});
    called(&host, "think", second).await;

    let text = read(&host, "cogwork://sessions/mine")
        .await
        .expect("a text");
    let drawing = read(&host, "cogwork://sessions/mine/mermaid")
        .await
        .expect("a text");
    let data = read(&host, "cogwork://sessions/mine/json")
        .await
        .expect("a text");

    assert_snapshot!("think_markdown", text);
    assert_snapshot!("think_mermaid", drawing);
    let data: Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!(data["kind"], "think");
    assert_eq!(data["entries"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_session_of_begin_and_answer_in_every_format() {
    let host = Host::connect(&server(0), Era::Discover).await;
    let begin = json!({
        "sessionId": "mine",
        "strategy": "chain_of_thought",
        "problem": "What is\n17 * 3?",
    });
    called(&host, "begin", begin).await;
    for reply in [
        "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
        "results:\n- 30\n- 21\n- 51\nanswer: 51",
        "thought: 51 / 3 = 17.\nholds: yes",
    ] {
        called(
            &host,
            "answer",
            json!({"sessionId": "mine", "reply": reply}),
        )
        .await;
    }

    let text = read(&host, "cogwork://sessions/mine")
        .await
        .expect("a text");
    let drawing = read(&host, "cogwork://sessions/mine/mermaid")
        .await
        .expect("a text");
    let data = read(&host, "cogwork://sessions/mine/json")
        .await
        .expect("a text");

    assert!(text.contains("- Outcome: `answered`"), "{text}");
    assert!(text.ends_with("## Answer\n\n```text\n51\n```\n"), "{text}");
    assert!(drawing.contains("answer[[\"51\"]]"), "{drawing}");
    let data: Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!(data["kind"], "guided");
}

#[tokio::test]
async fn the_oldest_thoughts_of_a_session_of_begin_are_left_out_if_it_is_long() {
    let limits = ServerLimits {
        export_bytes: 1,
        ..ServerLimits::default()
    };
    let server = Server::builder().with_limits(limits).open();
    let host = Host::connect(&server.expect("the server opens"), Era::Discover).await;

    let begin = json!({"sessionId": "mine", "strategy": "chain_of_thought", "problem": "17 * 3"});
    called(&host, "begin", begin).await;
    for reply in [
        "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
        "results:\n- 30\n- 21\n- 51\nanswer: 51",
    ] {
        let answer = json!({"sessionId": "mine", "reply": reply});
        called(&host, "answer", answer).await;
    }

    let text = read(&host, "cogwork://sessions/mine").await;
    let text = text.expect("a text");
    assert!(text.contains("older entries aren't shown"), "{text}");
    assert_eq!(text.matches("\n## ").count(), 2, "{text}");
}
