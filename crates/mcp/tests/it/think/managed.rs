//! Lists, removal, and sessions as Markdown and JSON.

use serde_json::{Value, json};

use super::{client, refused, session, think};

#[tokio::test]
async fn sessions_are_listed_and_removed() {
    let client = client().await;
    for (id, purpose) in [("a", "The way to the sea"), ("b", "The way to the moon")] {
        let begin = json!({
            "sessionId": id,
            "strategy": "linear",
            "purpose": purpose,
            "thought": "How far is it?",
        });
        think(&client, begin).await;
    }
    let list = session(&client, json!({"operation": "list"})).await;
    insta::assert_snapshot!(list, @r"
    Sessions, the newest first:
    - `b` (think, linear, open): The way to the moon
    - `a` (think, linear, open): The way to the sea
    ");

    let line = refused(&client, "think_session", json!({"operation": "remove"})).await;
    assert_eq!(line, "`sessionId` is missing; expected the id of a session");
    let remove = json!({"operation": "remove", "sessionId": "b"});
    session(&client, remove.clone()).await;
    let line = refused(&client, "think_session", remove).await;
    assert_eq!(line, "there is no session `b`");
    let list = session(&client, json!({"operation": "list"})).await;
    assert!(!list.contains("`b`"), "{list}");
}

#[tokio::test]
async fn another_purpose_begins_another_session() {
    let client = client().await;
    let begin = json!({"strategy": "linear", "purpose": "One", "thought": "First."});
    think(&client, begin).await;
    let begin = json!({"strategy": "linear", "purpose": "Two", "thought": "First."});
    assert!(
        think(&client, begin)
            .await
            .starts_with("Thought 1 is recorded.")
    );

    let list = session(&client, json!({"operation": "list"})).await;
    assert_eq!(list.lines().count(), 3, "{list}");
}

#[tokio::test]
async fn a_session_is_shown_as_json() {
    let client = client().await;
    let begin = json!({"strategy": "linear", "sessionId": "way", "thought": "How far?"});
    think(&client, begin).await;

    let show = json!({"operation": "show", "format": "json"});
    let shown: Value = serde_json::from_str(&session(&client, show).await).expect("JSON");
    assert_eq!(shown["sessionId"], "way");
    assert_eq!(shown["entries"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn strategies_are_listed_and_shown() {
    let client = client().await;
    let list = session(&client, json!({"operation": "strategies"})).await;
    assert_eq!(list.lines().count(), 9);

    let one = json!({"operation": "strategies", "strategy": "self_ask"});
    insta::assert_snapshot!(session(&client, one).await);
}
