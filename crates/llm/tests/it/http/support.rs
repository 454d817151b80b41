//! A small HTTP server on this machine that answers as a script says, faults included.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_llm::{ChatRequest, ChatResponse, Delta, LlmClient, LlmError, Message, OpenAiClient};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the server does with one connection, once it has read the request.
#[derive(Clone)]
pub(crate) enum Answer {
    /// These bytes, then the end.
    Raw(Vec<u8>),
    /// These bytes after a while.
    Late(Duration, Vec<u8>),
    /// These bytes, then nothing for as long as the other side waits.
    Stall(Vec<u8>),
    /// These bytes one after the other, each sent by itself a while after the one before it.
    Pieces(Duration, Vec<Vec<u8>>),
    /// These bytes, then a reset of the connection.
    Reset(Vec<u8>),
    /// A good status and a body without end, which begins like this and goes on with that.
    Endless(&'static str, String),
}

/// A whole answer: status, headers each ending in a line end, body.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> Answer {
    Answer::Raw(bytes(status, headers, body, body.len()))
}

/// A good answer in JSON.
pub(crate) fn ok(body: &str) -> Answer {
    answer(200, "content-type: application/json\r\n", body)
}

/// A good answer that ends where the connection does, as streams come.
pub(crate) fn streamed(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// The smallest completion.
pub(crate) fn says(text: &str) -> Answer {
    let text = serde_json::to_string(text).unwrap();
    ok(&format!(
        r#"{{"choices":[{{"message":{{"content":{text}}}}}]}}"#
    ))
}

/// The bytes of an answer whose stated length may be a lie.
pub(crate) fn bytes(status: u16, headers: &str, body: &str, length: usize) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// One request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A running server. Each connection gets the next answer.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let answers: Vec<Answer> = answers.into_iter().collect();
        let log = seen.clone();
        let task = tokio::spawn(async move {
            for answer in answers {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, answer, log.clone()));
            }
        });

        Self {
            address,
            seen,
            task,
        }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address without a path.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// A client of this server, without a key.
    pub(crate) fn client(&self) -> OpenAiClient {
        OpenAiClient::builder(self.base_url(), "test-model")
            .build()
            .unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, answer: Answer, log: Arc<Mutex<Vec<Seen>>>) {
    let seen = read_request(&mut stream).await;
    log.lock().unwrap().push(seen);

    // The client may be gone by now, which is what some tests are about.
    let _ = match answer {
        Answer::Raw(bytes) => stream.write_all(&bytes).await,
        Answer::Late(delay, bytes) => {
            tokio::time::sleep(delay).await;
            stream.write_all(&bytes).await
        }
        Answer::Stall(bytes) => {
            stream.write_all(&bytes).await.unwrap();
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await.map(drop)
        }
        Answer::Reset(bytes) => {
            stream.write_all(&bytes).await.unwrap();
            stream.flush().await.unwrap();

            // Let what was sent arrive before the reset discards it.
            tokio::time::sleep(Duration::from_millis(20)).await;
            stream.set_zero_linger()
        }
        Answer::Pieces(pause, pieces) => {
            stream.set_nodelay(true).unwrap();
            for piece in pieces {
                if stream.write_all(&piece).await.is_err() {
                    break;
                }
                pass(pause).await;
            }

            Ok(())
        }
        Answer::Endless(start, more) => {
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{start}");
            let mut sent = stream.write_all(head.as_bytes()).await;
            let more = more.repeat(1 + 8192 / more.len());

            while sent.is_ok() {
                sent = stream.write_all(more.as_bytes()).await;
            }

            sent
        }
    };
}

/// Waits, or lets the client read what was sent.
async fn pass(time: Duration) {
    if time.is_zero() {
        tokio::task::yield_now().await;
    } else {
        tokio::time::sleep(time).await;
    }
}

async fn read_request(stream: &mut TcpStream) -> Seen {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();

        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert!(read > 0, "half a request: {text}");
            continue;
        };

        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap();
        if body.len() >= length.parse().unwrap() {
            return Seen {
                head: head.to_owned(),
                body: body.to_owned(),
            };
        }
    }
}

pub(crate) async fn ask(client: &impl LlmClient) -> Result<ChatResponse, LlmError> {
    client
        .complete(ChatRequest::new([Message::user("Hello")]))
        .await
}

/// The reply as it grows, all of it.
pub(crate) async fn follow(
    client: &impl LlmClient,
) -> (Vec<Delta>, Result<ChatResponse, LlmError>) {
    let mut deltas = Vec::new();
    let mut reply = match client
        .stream(ChatRequest::new([Message::user("Hello")]))
        .await
    {
        Ok(reply) => reply,
        Err(error) => return (deltas, Err(error)),
    };

    loop {
        match reply.next().await.unwrap() {
            Ok(Delta::End(response)) => return (deltas, Ok(response)),
            Ok(delta) => deltas.push(delta),
            Err(error) => return (deltas, Err(error)),
        }
    }
}

/// What a client makes of one answer.
pub(crate) async fn outcome(answer: Answer) -> Result<ChatResponse, LlmError> {
    let server = Server::start([answer]).await;
    ask(&server.client()).await
}
