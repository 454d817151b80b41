//! Calls that arrive together.

use cogwork_mcp::{Server, ServerBuilder, ServerLimits};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::support::Connection;

/// A call with arguments in addition to the usual ones.
fn call(id: u64, more: &Value) -> Value {
    let mut arguments = json!({
        "thought": "a",
        "thoughtNumber": id,
        "totalThoughts": 9,
        "nextThoughtNeeded": true,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    let params = json!({"name": "sequentialthinking", "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// Returns the answers to calls that are sent in one write, as they are written.
async fn answers(connection: &mut Connection, calls: &[Value]) -> Vec<String> {
    let lines: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let lines = lines.as_bytes();
    connection.writer.write_all(lines).await.expect("written");

    let mut answers = Vec::new();
    for _ in calls {
        let answer = connection.lines.next_line().await.expect("a connection");
        answers.push(answer.expect("an answer"));
    }
    answers
}

/// Connects to a server, and begins all sessions.
async fn connected(builder: ServerBuilder) -> Connection {
    let mut connection = Connection::to(builder).await;
    let sessions = [
        json!({}),
        json!({"sessionId": "1"}),
        json!({"sessionId": "2"}),
    ];
    for (id, session) in (1_000..).zip(&sessions) {
        answers(&mut connection, &[call(id, session)]).await;
    }
    connection
}

async fn answers_of(builder: ServerBuilder, calls: &[Value]) -> Vec<Value> {
    let mut connection = connected(builder).await;
    let answers = answers(&mut connection, calls).await;
    let answers = answers
        .iter()
        .map(|answer| serde_json::from_str(answer).expect("JSON"));
    answers.collect()
}

fn thoughts(answer: &Value) -> &Value {
    &answer["result"]["structuredContent"]["thoughtHistoryLength"]
}

/// Returns a server in memory and one with a database in this folder.
fn builders(folder: &tempfile::TempDir) -> [ServerBuilder; 2] {
    [
        Server::builder(),
        Server::builder().with_data(folder.path()),
    ]
}

#[tokio::test]
async fn calls_keep_their_order_whatever_they_contain() {
    let calls: Vec<Value> = (1..=100)
        .map(|id| match id % 3 {
            0 => call(id, &json!({"thoughtNumber": id.to_string()})),
            _ => call(id, &json!({})),
        })
        .collect();

    let folder = tempfile::tempdir().expect("a folder");
    for builder in builders(&folder) {
        // Calls are carried out in order; answers may overtake one another.
        for answer in answers_of(builder, &calls).await {
            let before = answer["id"].as_u64().expect("a number");
            assert_eq!(thoughts(&answer), &json!(before + 1));
        }
    }
}

#[tokio::test]
async fn calls_for_several_sessions_are_independent() {
    let calls: Vec<Value> = (1..=60)
        .map(|id| match id % 3 {
            0 => call(id, &json!({})),
            _ => call(id, &json!({"sessionId": (id % 3).to_string()})),
        })
        .collect();

    let folder = tempfile::tempdir().expect("a folder");
    for builder in builders(&folder) {
        let mut lengths = [1; 3];
        let mut answers = answers_of(builder, &calls).await;
        answers.sort_by_key(|answer| answer["id"].as_u64());

        for (answer, id) in answers.iter().zip(1_usize..) {
            let length = lengths.get_mut(id % 3).expect("a session");
            *length += 1;
            assert_eq!(thoughts(answer), &json!(*length), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_refused_call_changes_nothing_for_the_others() {
    let unknown = json!({"isRevision": true, "revisesThought": 99_999});
    let calls = [
        call(1, &unknown),
        call(2, &json!({})),
        call(3, &unknown),
        call(4, &json!({"isRevision": true, "revisesThought": 2})),
    ];

    let folder = tempfile::tempdir().expect("a folder");
    for builder in builders(&folder) {
        let answers = answers_of(builder.with_strict(true), &calls).await;
        let lengths: Vec<&Value> = answers.iter().map(thoughts).collect();
        assert_eq!(lengths, [&Value::Null, &json!(2), &Value::Null, &json!(3)]);
        assert_eq!(answers[2]["result"]["isError"], json!(true));
    }
}

#[tokio::test]
async fn what_cannot_be_stored_is_refused_for_each_call() {
    let limits = ServerLimits {
        database_bytes: 200 * 1024,
        ..ServerLimits::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Server::builder()
        .with_limits(limits)
        .with_data(folder.path());
    let mut connection = connected(builder).await;

    let long = json!({"thought": "a".repeat(6 * 1024)});
    let mut refused = 0_u64;
    for round in 0..30 {
        let calls: Vec<Value> = (1..=4).map(|id| call(round * 4 + id, &long)).collect();
        for answer in answers(&mut connection, &calls).await {
            refused += u64::from(answer.contains("\"isError\":true"));
        }
    }
    assert!(refused > 0);

    // The thoughts that were refused aren't counted.
    let remaining = answers(&mut connection, &[call(2_000, &json!({}))]).await;
    let answer: Value = serde_json::from_str(&remaining[0]).expect("JSON");
    if let Some(count) = thoughts(&answer).as_u64() {
        assert_eq!(count, 1 + 120 - refused + 1);
    }
}
