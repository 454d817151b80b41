//! Messages over lines, and what is no message.

use cogwork_mcp::ServerLimits;
use proptest::prelude::*;
use serde_json::json;

use super::support::{Connection, answers, list};

#[tokio::test]
async fn a_message_that_is_too_long_is_dropped() {
    let limits = ServerLimits {
        message_bytes: 1000,
        ..ServerLimits::default()
    };
    let mut connection = Connection::open(limits).await;

    connection.send(&list("x".repeat(1000))).await;
    connection.send(&list(1)).await;

    let answer = connection.receive().await.expect("an answer");
    assert_eq!(answer["id"], json!(1));
}

#[tokio::test]
async fn stopping_ends_the_connection() {
    let mut connection = Connection::open(ServerLimits::default()).await;

    connection.server.stop();

    assert!(connection.receive().await.is_none());
    assert!(connection.serving.await.is_ok());
}

#[tokio::test]
async fn a_client_that_vanishes_ends_the_connection() {
    let mut connection = Connection::open(ServerLimits::default()).await;
    connection.send(&list(1)).await;

    let Connection {
        serving,
        lines,
        writer,
        ..
    } = connection;
    drop((lines, writer));

    assert!(serving.await.is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_lines_are_survived(
        lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..8),
    ) {
        answers(ServerLimits::default(), &lines);
    }
}
