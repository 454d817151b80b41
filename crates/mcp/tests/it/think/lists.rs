//! Lists, searches, pages and removal.

use cogwork_mcp::Server;
use serde_json::{Value, json};

use super::{refused, session, session_text, think};
use crate::support::{Client, connect};

fn ids(list: &Value) -> Vec<&str> {
    let sessions = list["sessions"].as_array().expect("sessions");
    let ids = sessions.iter().map(|session| session["session"].as_str());
    ids.map(|id| id.expect("an id")).collect()
}

/// Begins three sessions, of which `b` is complete.
async fn three(client: &Client) {
    for (id, strategy, thought) in [
        ("a", "linear", "The way to the sea"),
        ("b", "react", "The way to the moon"),
        ("c", "linear", "A song about the moon"),
    ] {
        let new = json!({
            "operation": "new",
            "sessionId": id,
            "strategy": strategy,
            "allowEarlyEnd": true,
            "thought": thought,
        });
        session(client, new).await;
    }
    let end = json!({"sessionId": "b", "thought": "384,400 km", "nextThoughtNeeded": false});
    think(client, end).await;
}

#[tokio::test]
async fn sessions_are_listed_and_searched() {
    let client = connect(Server::builder()).await;
    three(&client).await;

    let by_entries = json!({"operation": "list", "sortBy": "entries", "limit": 1});
    let list = session(&client, by_entries).await;
    assert_eq!(ids(&list), ["b"]);
    assert_eq!(list["nextOffset"], 1);

    let complete = json!({"action": "list", "completionStatus": "complete"});
    assert_eq!(ids(&session(&client, complete).await), ["b"]);

    let moon = json!({"operation": "search", "query": "MOON way"});
    assert_eq!(ids(&session(&client, moon).await), ["b"]);
    let linear = json!({"operation": "search", "query": "moon", "strategy": "base_sequential"});
    assert_eq!(ids(&session(&client, linear).await), ["c"]);
    let inside = json!({"operation": "search", "query": "384,400"});
    let text = session_text(&client, inside).await;
    assert_eq!(text, "- `b` (react, complete): The way to the moon");
    let nothing = session_text(&client, json!({"operation": "search", "query": "x y z"})).await;
    assert_eq!(nothing, "There are no such sessions.");

    let empty = json!({"operation": "search", "query": " "});
    let (line, _) = refused(&client, "think_session", empty).await;
    assert_eq!(line, "`query` is missing, expected 1 to 16 words");
}

#[tokio::test]
async fn thoughts_are_shown_in_pages() {
    let client = connect(Server::builder()).await;
    let begin = json!({"strategy": "linear", "sessionId": "long", "thought": "1"});
    think(&client, begin).await;
    for number in 2..=25 {
        think(&client, json!({"thought": number.to_string()})).await;
    }

    let last = session(&client, json!({"operation": "show"})).await;
    assert_eq!(last["offset"], 5);
    assert_eq!(last["page"].as_array().map(Vec::len), Some(20));
    assert_eq!(last["nextOffset"], Value::Null);

    let first = session(
        &client,
        json!({"operation": "show", "offset": 0, "limit": 10}),
    )
    .await;
    assert_eq!(first["page"][9]["thought"], "10");
    assert_eq!(first["nextOffset"], 10);

    let branch = json!({"branchFrom": 2, "branch": "side", "thought": "26"});
    think(&client, branch).await;
    let path = json!({"operation": "show", "branch": "side"});
    let path = session(&client, path).await;
    assert_eq!(path["total"], 3);
}

#[tokio::test]
async fn a_removed_session_is_gone() {
    let client = connect(Server::builder()).await;
    three(&client).await;

    let (line, _) = refused(&client, "think_session", json!({"operation": "remove"})).await;
    assert_eq!(line, "`sessionId` is missing, expected the id of a session");

    let remove = json!({"operation": "remove", "sessionId": "b"});
    session(&client, remove.clone()).await;
    let (line, _) = refused(&client, "think_session", remove).await;
    assert_eq!(line, "there is no session `b`");
    let list = session(&client, json!({"operation": "list"})).await;
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn strategies_are_listed_and_shown() {
    let client = connect(Server::builder()).await;
    let list = session(&client, json!({"operation": "strategies"})).await;
    assert_eq!(list["strategies"].as_array().map(Vec::len), Some(9));

    let one = json!({"operation": "strategies", "strategy": "self_ask"});
    let data = session(&client, one.clone()).await;
    assert_eq!(data["start"], "problem_reception");
    insta::assert_snapshot!(session_text(&client, one).await);
}
