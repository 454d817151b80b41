//! Messages over lines, in both generations of the protocol, and what is no message.

use cogwork_mcp::{Server, ServerBuilder, ServerLimits};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

use crate::support::{Client, Era, block_on, discover, initialize};

/// A connection to a server in the same process.
pub(crate) struct Connection {
    server: Server,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    serving: JoinHandle<()>,
}

impl Connection {
    /// Connects and sends a first message, which is answered.
    async fn greeted(builder: ServerBuilder, greeting: &Value) -> (Self, Value) {
        let server = builder.open().expect("the server opens");
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let serving = server.serve(tokio::io::split(theirs));
        let (reader, writer) = tokio::io::split(ours);
        let mut connection = Self {
            server,
            lines: BufReader::new(reader).lines(),
            writer,
            serving: tokio::spawn(async move { serving.await.expect("no error") }),
        };

        connection.send(greeting).await;
        let answer = connection.receive().await.expect("an answer");
        (connection, answer)
    }

    /// Connects and initializes.
    pub(crate) async fn new(builder: ServerBuilder) -> Self {
        Self::greeted(builder, &initialize()).await.0
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes()).await;
    }

    async fn send_line(&mut self, line: &[u8]) {
        let line = [line, b"\n"].concat();
        self.writer.write_all(&line).await.expect("written");
    }

    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.ok()??;
        Some(serde_json::from_str(&line).expect("JSON"))
    }
}

fn list(id: impl Into<Value>) -> Value {
    let id: Value = id.into();
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"})
}

#[tokio::test]
async fn the_answers_to_the_first_message_of_each_generation() {
    for (name, greeting) in [("initialize", initialize()), ("discover", discover())] {
        let (_, mut answer) = Connection::greeted(Server::builder(), &greeting).await;
        if let Some(version) = answer.pointer_mut("/result/serverInfo/version") {
            *version = json!("…");
        }
        let shown = format!("{answer:#}").replace(env!("CARGO_PKG_VERSION"), "…");
        insta::assert_snapshot!(format!("the_answer_to_{name}"), shown);
    }
}

#[tokio::test]
async fn the_client_of_the_sdk_connects_in_every_mode() {
    for era in Era::ALL {
        let server = Server::builder().open().expect("the server opens");
        let client = Client::in_era(&server, era).await;
        assert!(client.list_all_tools().await.is_ok());
    }
}

#[tokio::test]
async fn a_call_with_other_parameters_is_refused_as_such() {
    let mut connection = Connection::new(Server::builder()).await;
    for params in [
        json!({"name": "reason", "arguments": "{}"}),
        json!({"arguments": {}}),
    ] {
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        connection.send(&call).await;
        let answer = connection.receive().await.expect("an answer");
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused() {
    let limits = ServerLimits {
        message_bytes: 1000,
        ..ServerLimits::default()
    };
    let mut connection = Connection::new(Server::builder().with_limits(limits)).await;
    connection.send(&list("x".repeat(100_000))).await;
    connection.send(&list(1)).await;

    let refusal = connection.receive().await.expect("an answer");
    let message = "the message is too long; expected at most 1000 bytes";
    assert_eq!(refusal["error"]["message"], message);
    let answer = connection.receive().await.expect("an answer");
    assert_eq!(answer["id"], json!(1));
}

/// Returns a call of a tool with the id 7 and this argument, which may be no JSON.
fn call_with(argument: &[u8]) -> Vec<u8> {
    let start = br#"{"method":"tools/call","params":{"name":"reason","arguments":{"problem":"#;
    let end = br#"}},"jsonrpc":"2.0","id":7}"#;
    [start, argument, end].concat()
}

#[tokio::test]
async fn lines_that_cannot_be_read_are_answered_with_the_id_of_their_request() {
    let nested = ["[".repeat(200), "]".repeat(200)].concat();
    let mut connection = Connection::new(Server::builder()).await;
    for (line, code, id) in [
        (call_with(br#""\ud83d""#), -32700, json!(7)),
        (call_with(b"\"\xff\""), -32700, json!(7)),
        (call_with(nested.as_bytes()), -32700, json!(7)),
        (call_with(b"nothing"), -32700, Value::Null),
        (b"hello".to_vec(), -32700, Value::Null),
        (br#"{"id": 7}"#.to_vec(), -32600, json!(7)),
        (
            br#"{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}"#.to_vec(),
            -32600,
            Value::Null,
        ),
    ] {
        connection.send_line(&line).await;
        let answer = connection.receive().await.expect("an answer");
        let line = String::from_utf8_lossy(&line);
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        assert_eq!(answer["id"], id, "{line}: {answer}");
    }

    // As protocol 2025-03-26 has them, also of a shape that looks like a notification.
    for batch in [
        &br#"[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]"#[..],
        b"[null, 1]",
    ] {
        connection.send_line(batch).await;
        let answer = connection.receive().await.expect("an answer");
        let message = "batches aren't taken; send each message on a line of its own";
        assert_eq!(answer["error"], json!({"code": -32600, "message": message}));
    }
}

#[tokio::test]
async fn what_needs_no_answer_gets_none() {
    let mut connection = Connection::new(Server::builder()).await;
    for line in [
        &b""[..],
        b"\r",
        br#"{"method": "notifications/of_others", "params": 1}"#,
    ] {
        connection.send_line(line).await;
    }

    let marked = ["\u{feff}", &list(1).to_string(), "\r"].concat();
    connection.send_line(marked.as_bytes()).await;
    let answer = connection.receive().await.expect("an answer");
    assert_eq!(answer["id"], json!(1));
}

#[tokio::test]
async fn stopping_ends_the_connection() {
    let mut connection = Connection::new(Server::builder()).await;
    connection.server.stop();
    assert!(connection.receive().await.is_none());
    assert!(connection.serving.await.is_ok());
}

#[tokio::test]
async fn a_client_that_vanishes_ends_the_connection() {
    let mut connection = Connection::new(Server::builder()).await;
    connection.send(&list(1)).await;
    drop((connection.lines, connection.writer));
    assert!(connection.serving.await.is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_lines_are_survived(
        lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..8),
    ) {
        block_on(async {
            let mut connection = Connection::new(Server::builder()).await;
            for line in &lines {
                connection.send_line(line).await;
            }

            // Some of the lines may have been answered before this request.
            connection.send(&list("the last request")).await;
            while connection.receive().await.expect("an answer")["id"] != "the last request" {}
        });
    }
}
