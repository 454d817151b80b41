use cogwork_mcp::{Server, ServerBuilder, ServerLimits};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// A connection to a server in the same process.
pub(crate) struct Connection {
    pub(crate) server: Server,
    pub(crate) lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) writer: WriteHalf<DuplexStream>,
    pub(crate) serving: JoinHandle<()>,
}

impl Connection {
    /// Connects and initializes.
    pub(crate) async fn open(limits: ServerLimits) -> Self {
        Self::to(Server::builder().with_limits(limits)).await
    }

    /// Connects to a server, and initializes.
    pub(crate) async fn to(builder: ServerBuilder) -> Self {
        let mut connection = Self::without_handshake(builder);
        connection.send(&initialize()).await;
        connection.receive().await.expect("an answer");
        connection
    }

    pub(crate) fn without_handshake(builder: ServerBuilder) -> Self {
        let server = builder.open().expect("the server opens");
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let serving = server.serve(tokio::io::split(theirs));
        let serving = tokio::spawn(async move { serving.await.expect("no error") });
        let (reader, writer) = tokio::io::split(ours);

        Self {
            server,
            lines: BufReader::new(reader).lines(),
            writer,
            serving,
        }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer
            .write_all(line.as_bytes())
            .await
            .expect("written");
    }

    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.ok()??;
        Some(serde_json::from_str(&line).expect("JSON"))
    }
}

pub(crate) fn initialize() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": "start",
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    })
}

pub(crate) fn list(id: impl Into<Value>) -> Value {
    let id: Value = id.into();
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"})
}

/// Returns the answers to lines, and then to a last request.
pub(crate) fn answers(limits: ServerLimits, lines: &[Vec<u8>]) -> Vec<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut connection = Connection::open(limits).await;
        for line in lines {
            connection.writer.write_all(line).await.expect("written");
            connection.writer.write_all(b"\n").await.expect("written");
        }
        connection.send(&list("the last request")).await;

        let mut answers = Vec::new();
        loop {
            let answer = connection.receive().await.expect("an answer");
            if answer["id"] == json!("the last request") {
                return answers;
            }
            answers.push(answer);
        }
    })
}
