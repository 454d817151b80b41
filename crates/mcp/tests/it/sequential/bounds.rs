//! The oldest thoughts and sessions are dropped when a bound is reached.

use cogwork_mcp::{Server, ServerLimits};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::support::{answer, thought};
use crate::support::{Client, connect};

async fn branches(client: &Client, ids: &[&str]) -> Value {
    let mut branches = Value::Null;
    for id in ids {
        let arguments = thought(json!({ "branchFromThought": 1, "branchId": id }));
        branches = answer(client, arguments).await["branches"].take();
    }
    branches
}

#[tokio::test]
async fn the_oldest_thoughts_are_dropped_and_remain_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = ServerLimits {
        thoughts: 100,
        ..ServerLimits::default()
    };
    let server = Server::builder()
        .with_limits(limits)
        .with_data(folder.path());
    let client = connect(server).await;

    for number in 1..=115 {
        let answer = answer(&client, thought(json!({ "thoughtNumber": number }))).await;
        assert_eq!(answer["thoughtHistoryLength"], number);
    }

    let database = Connection::open(folder.path().join("sessions.sqlite")).expect("a database");
    let kept = "SELECT min(number), max(number), count(*) FROM entries";
    let kept = database.query_row(kept, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let kept: (i64, i64, i64) = kept.expect("a row");
    assert_eq!(kept, (16, 115, 100));
}

#[tokio::test]
async fn the_branches_that_began_last_are_listed() {
    let limits = ServerLimits {
        branches: 2,
        ..ServerLimits::default()
    };
    let client = connect(Server::builder().with_limits(limits)).await;

    assert_eq!(
        branches(&client, &["a", "b", "a", "c"]).await,
        json!(["b", "c"])
    );
}
