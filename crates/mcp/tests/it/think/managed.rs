//! Lists, removal, and sessions as JSON.

use serde_json::{Value, json};

use super::{client, refused, session, think};

#[tokio::test]
async fn sessions_are_listed_and_removed() {
    let client = client().await;
    for (id, purpose) in [("a", "The way to the sea"), ("b", "The way to the moon")] {
        let mut begin = json!({"sessionId": id, "strategy": "linear", "thought": "How far?"});
        begin["purpose"] = json!(purpose);
        think(&client, begin).await;
    }

    // Another purpose begins another session.
    let begin = json!({"strategy": "linear", "purpose": "Back", "thought": "How far?"});
    let begun = think(&client, begin).await;
    assert!(begun.starts_with("Thought 1 is recorded."), "{begun}");
    let list = session(&client, json!({"operation": "list"})).await;
    assert_eq!(list.lines().count(), 4, "{list}");

    let remove = json!({"operation": "remove", "sessionId": "b"});
    session(&client, remove.clone()).await;
    let line = refused(&client, "think_session", remove).await;
    assert_eq!(line, "there is no session `b`");
    let list = session(&client, json!({"operation": "list"})).await;
    assert!(list.contains("\n- `a` (think, linear, open): The way to the sea"));
    assert!(!list.contains("`b`"), "{list}");
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
