//! Exports, and texts that try to break out of them.

use cogwork_mcp::{Server, ServerLimits};
use cogwork_strategies::Session;
use serde_json::json;

use super::{refused, session, session_text, think};
use crate::support::{Client, connect};

/// Begins a session with a merge, a revision and texts that look like markup.
async fn marked_up(client: &Client) {
    let begin = json!({
        "strategy": "linear",
        "sessionId": "way",
        "purpose": "# The *way* <b>\n```",
        "thought": "How far?\n```\n# Heading\n````\n<script>alert(1)</script>",
    });
    think(client, begin).await;

    let side = json!({
        "branchFrom": 1,
        "branch": "a \"|--> x` ]",
        "stage": "initial_thought_planning",
        "thought": "end\"] click t1 \u{1b}[2J %%{init: {}}%%",
    });
    think(client, side).await;
    session(client, json!({"operation": "score", "score": 7.5})).await;

    session(client, json!({"operation": "switch", "branch": "main"})).await;
    for stage in [
        "initial_thought_planning",
        "thought_generation",
        "thought_evaluation",
    ] {
        think(client, json!({"stage": stage, "thought": stage})).await;
    }
    let revision = json!({
        "stage": "thought_revision",
        "thought": "Better.",
        "parameters": {"revises_thought": 4},
    });
    think(client, revision).await;
    let merge = json!({
        "operation": "merge",
        "branches": ["a \"|--> x` ]"],
        "thought": "Both.",
    });
    session(client, merge).await;
}

#[tokio::test]
async fn a_session_is_exported_as_markdown() {
    let client = connect(Server::builder()).await;
    marked_up(&client).await;
    let export = json!({"operation": "export"});
    insta::assert_snapshot!(session_text(&client, export).await);
}

#[tokio::test]
async fn a_session_is_exported_as_mermaid() {
    let client = connect(Server::builder()).await;
    marked_up(&client).await;
    let export = json!({"operation": "export", "format": "mermaid"});
    insta::assert_snapshot!(session_text(&client, export).await);
}

#[tokio::test]
async fn an_export_as_json_can_be_read_back() {
    let client = connect(Server::builder()).await;
    marked_up(&client).await;
    let export = json!({"operation": "export", "format": "json"});
    let json = session_text(&client, export).await;

    let read: Session = serde_json::from_str(&json).expect("a snapshot");
    assert_eq!(read.thoughts().len(), 7);
    assert_eq!(read.branches().len(), 2);
}

#[tokio::test]
async fn exports_are_bounded() {
    let limits = ServerLimits {
        export_bytes: 2_000,
        ..ServerLimits::default()
    };
    let client = connect(Server::builder().with_limits(limits)).await;
    let begin = json!({"strategy": "linear", "sessionId": "long", "thought": "1"});
    think(&client, begin).await;
    for _ in 0..300 {
        think(&client, json!({"thought": "x".repeat(90)})).await;
    }

    let json = json!({"operation": "export", "format": "json"});
    let (line, kind) = refused(&client, "think_session", json).await;
    assert_eq!(kind, "too_long");
    assert!(
        line.starts_with("the session has more than 2000 bytes as JSON"),
        "{line}"
    );

    for format in ["markdown", "mermaid"] {
        let export = json!({"operation": "export", "format": format});
        let text = session_text(&client, export).await;
        assert!(text.len() < 3_000, "{}", text.len());
    }
}
