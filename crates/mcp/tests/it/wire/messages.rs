//! Messages over lines: order, limits and clients that don't read.

use std::time::Duration;

use cogwork_mcp::ServerLimits;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::support::{Connection, answers, any_json, list};

#[tokio::test]
async fn a_message_in_many_pieces_is_read() {
    let mut connection = Connection::open(ServerLimits::default()).await;
    let line = format!("{}\r\n", list(1));

    for byte in line.bytes() {
        connection.writer.write_all(&[byte]).await.expect("written");
        tokio::task::yield_now().await;
    }
    assert_eq!(
        connection.receive().await.expect("an answer")["id"],
        json!(1)
    );
}

#[tokio::test]
async fn the_last_message_needs_no_line_break() {
    let mut connection = Connection::open(ServerLimits::default()).await;
    let line = list(1).to_string();

    connection
        .writer
        .write_all(line.as_bytes())
        .await
        .expect("written");
    connection.writer.shutdown().await.expect("the end");
    assert_eq!(
        connection.receive().await.expect("an answer")["id"],
        json!(1)
    );
    assert!(connection.receive().await.is_none());
}

#[tokio::test]
async fn the_limit_of_a_message_is_exact() {
    let message = list("x".repeat(1000));
    let bytes = message.to_string().len();

    for (limit, is_accepted) in [(bytes, true), (bytes - 1, false)] {
        let limits = ServerLimits::default().with_message_bytes(limit);
        let mut connection = Connection::open(limits).await;
        connection.send(&message).await;
        let answer = connection.receive().await.expect("an answer");
        assert_eq!(answer.get("result").is_some(), is_accepted);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_stops_the_server_from_reading() {
    let limits = ServerLimits::default()
        .with_concurrent_requests(4)
        .with_waiting_requests(8);
    let mut connection = Connection::open(limits).await;

    let mut sent = 0_u64;
    let writing = async {
        loop {
            connection.send(&list(sent)).await;
            sent += 1;
        }
    };
    // The clock only advances when nothing else can be done.
    let writing = tokio::time::timeout(Duration::from_secs(1), writing).await;
    assert!(writing.is_err());
    assert!(sent < 1000, "{sent} requests were read");

    // All of them are answered when the client reads, and the last one may be incomplete.
    for _ in 0..sent {
        assert!(connection.receive().await.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn long_requests_of_a_client_that_does_not_read_stop_the_server_from_reading() {
    let limits = ServerLimits::default()
        .with_message_bytes(64 * 1024)
        .with_concurrent_requests(4);
    let mut connection = Connection::open(limits).await;
    let long = "x".repeat(60 * 1024);

    let mut sent = 0_u64;
    let writing = async {
        loop {
            let mut request = list(sent);
            request["params"] = json!({"cursor": &long});
            connection.send(&request).await;
            sent += 1;
        }
    };
    let writing = tokio::time::timeout(Duration::from_secs(1), writing).await;
    assert!(writing.is_err());
    assert!(sent < 20, "{sent} requests were read");

    for _ in 0..sent {
        assert!(connection.receive().await.is_some());
    }
}

#[tokio::test]
async fn an_id_in_use_is_refused_without_an_answer_to_the_first() {
    let limits = ServerLimits::default().with_concurrent_requests(1);
    let mut connection = Connection::open(limits).await;
    let both = format!("{}\n{}\n", list(1), list(1));
    connection
        .writer
        .write_all(both.as_bytes())
        .await
        .expect("written");

    let mut answers = [Value::Null, Value::Null];
    for answer in &mut answers {
        *answer = connection.receive().await.expect("an answer");
    }
    let results = answers.iter().filter(|answer| answer["id"] == json!(1));
    assert_eq!(results.count(), 1);
    let refused = answers.iter().find(|answer| answer["error"].is_object());
    let refused = refused.expect("an error");
    assert!(refused.get("id").is_none());
    assert!(
        refused["error"]["message"]
            .to_string()
            .contains("the id 1 is used")
    );

    // Afterwards, the id may be used again.
    connection.send(&list(1)).await;
    assert!(connection.receive().await.expect("an answer")["result"].is_object());
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

#[test]
fn the_part_of_a_message_that_is_wrong_is_named() {
    for (message, named) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            "`params` must",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}"#,
            "`params._meta` must be an object",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#,
            "no name may occur twice",
        ),
    ] {
        let answers = answers(ServerLimits::default(), &[message.into()]);
        let error = answers[0]["error"]["message"].as_str().expect("an error");
        assert!(error.contains(named), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_lines_are_survived(
        lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..8),
    ) {
        answers(ServerLimits::default(), &lines);
    }

    #[test]
    fn any_json_gets_at_most_one_answer(message in any_json()) {
        let line = message.to_string().into_bytes();
        let answers = answers(ServerLimits::default(), &[line]);
        prop_assert!(answers.len() <= 1 || message.is_array());
    }

    #[test]
    fn the_id_of_a_message_that_is_too_long_is_found(
        id in prop_oneof![any::<i64>().prop_map(Value::from), "[^\u{0}]{1,20}".prop_map(Value::from)],
        params in any_json(),
        is_first in any::<bool>(),
    ) {
        let long = "x".repeat(2000);
        let text = if is_first {
            format!(r#"{{"id": {id}, "method": "{long}", "params": {params}}}"#)
        } else {
            format!(r#"{{"method":"{long}","params":{params},"jsonrpc":"2.0","id":{id}}}"#)
        };

        let limits = ServerLimits::default().with_message_bytes(1000);
        let answers = answers(limits, &[text.into_bytes()]);
        prop_assert_eq!(answers.len(), 1);
        prop_assert_eq!(&answers[0]["id"], &id);
    }
}
