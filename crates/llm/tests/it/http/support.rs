//! A small HTTP server on this machine that answers as a script says, faults included.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_llm::http::{HttpClientBuilder, OpenAiApi};
use cogwork_llm::{
    AnthropicClient, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, Message, OllamaClient,
    OpenAiClient,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::table::check;

/// What the server does with one connection, once it has read the request.
#[derive(Clone)]
pub(crate) enum Answer {
    /// These bytes, then the end.
    Raw(Vec<u8>),
    /// These bytes, then nothing for as long as the other side waits.
    Stall(Vec<u8>),
    /// These bytes one after the other, each sent by itself.
    Pieces(Vec<Vec<u8>>),
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
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close";
    format!("{head}\r\n\r\n{body}").into_bytes()
}

/// The smallest completion.
pub(crate) fn says(text: &str) -> Answer {
    let text = serde_json::to_string(text).unwrap();
    completion(&format!(r#"{{"content":{text}}}"#))
}

/// A completion with this message.
pub(crate) fn completion(message: &str) -> Answer {
    ok(&format!(r#"{{"choices":[{{"message":{message}}}]}}"#))
}

/// The bytes of an answer whose stated length may be a lie.
pub(crate) fn bytes(status: u16, headers: &str, body: &str, length: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} X\r\n{headers}connection: close\r\n");
    format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes()
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
}

impl Server {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let answers: Vec<Answer> = answers.into_iter().collect();
        let log = seen.clone();
        tokio::spawn(async move {
            for answer in answers {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, answer, log.clone()));
            }
        });

        Self { address, seen }
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
    pub(crate) fn client(&self) -> Box<dyn LlmClient> {
        Protocol::Chat.client(self)
    }
}

async fn serve(mut stream: TcpStream, answer: Answer, log: Arc<Mutex<Vec<Seen>>>) {
    let seen = read_request(&mut stream).await;
    log.lock().unwrap().push(seen);

    // The client may be gone by now, which is what some tests are about.
    let _ = match answer {
        Answer::Raw(bytes) => stream.write_all(&bytes).await,
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
        Answer::Pieces(pieces) => {
            stream.set_nodelay(true).unwrap();
            for piece in pieces {
                drop(stream.write_all(&piece).await);
                // Lets the client read it.
                tokio::task::yield_now().await;
            }
            Ok(())
        }
        Answer::Endless(start, more) => {
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{start}");
            stream.write_all(head.as_bytes()).await.unwrap();
            let more = more.repeat(1 + 8192 / more.len());
            while stream.write_all(more.as_bytes()).await.is_ok() {}
            Ok(())
        }
    };
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

        let mut lines = head.lines();
        let length = lines.find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.unwrap().parse().unwrap() {
            let [head, body] = [head, body].map(str::to_owned);
            return Seen { head, body };
        }
    }
}

/// The protocols. What one of them does in every test is done by all four.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Protocol {
    Chat,
    Responses,
    Messages,
    Ollama,
}

/// The settings of a client.
pub(crate) struct Settings<'a> {
    pub(crate) key: Option<&'a str>,
    pub(crate) timeout: Duration,
    pub(crate) max_bytes: usize,
    pub(crate) extra: Value,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self {
            key: None,
            // The largest ones are taken.
            timeout: Duration::MAX,
            max_bytes: usize::MAX,
            extra: json!({}),
        }
    }
}

impl Settings<'_> {
    pub(crate) fn extra(extra: Value) -> Self {
        Self {
            extra,
            ..Self::default()
        }
    }

    pub(crate) fn limits(timeout: Duration, max_bytes: usize) -> Self {
        Self {
            timeout,
            max_bytes,
            ..Self::default()
        }
    }

    fn apply<C>(&self, builder: HttpClientBuilder<C>) -> HttpClientBuilder<C> {
        let builder = match self.key {
            Some(key) => builder.with_api_key(key),
            None => builder,
        };
        let builder = builder.with_timeout(self.timeout);
        let builder = builder.with_max_response_bytes(self.max_bytes);
        let extra = self.extra.as_object().unwrap().iter();
        extra.fold(builder, |builder, (name, value)| {
            builder.with_extra(name, value)
        })
    }
}

impl Protocol {
    pub(crate) const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Messages, Self::Ollama];

    pub(crate) fn client(self, server: &Server) -> Box<dyn LlmClient> {
        self.client_with(&server.origin(), &Settings::default())
    }

    pub(crate) fn client_with(self, origin: &str, settings: &Settings<'_>) -> Box<dyn LlmClient> {
        let openai = |api| {
            let builder = OpenAiClient::builder(format!("{origin}/v1"), "m").with_api(api);
            Box::new(settings.apply(builder).build().unwrap())
        };

        match self {
            Self::Chat => openai(OpenAiApi::Chat),
            Self::Responses => openai(OpenAiApi::Responses),
            Self::Messages => {
                let builder = AnthropicClient::builder(origin, "m");
                Box::new(settings.apply(builder).build().unwrap())
            }
            Self::Ollama => {
                let builder = OllamaClient::builder(origin, "m");
                Box::new(settings.apply(builder).build().unwrap())
            }
        }
    }

    /// The protocol of this name.
    pub(crate) fn named(name: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        let named = all.find(|protocol| format!("{protocol:?}") == name);
        named.unwrap()
    }

    /// Recorded replies, each as a stream and whole.
    pub(crate) fn recorded(self) -> Vec<[String; 2]> {
        let (names, kind) = match self {
            Self::Chat => ("llama_cpp openai openrouter openai_tools", "sse"),
            Self::Responses => ("responses responses_tools", "sse"),
            Self::Messages => ("anthropic anthropic_tools", "sse"),
            Self::Ollama => ("ollama ollama_tools", "ndjson"),
        };
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/http/fixtures");
        let read = |path: String| std::fs::read_to_string(path).unwrap();
        let of = |name| [kind, "json"].map(|kind| read(format!("{folder}/{name}.{kind}")));
        names.split(' ').map(of).collect()
    }

    /// A reply as the protocol streams it.
    pub(crate) fn stream(self) -> String {
        let [stream, _] = self.recorded().swap_remove(0);
        stream
    }

    /// The same reply without a stream.
    pub(crate) fn whole(self) -> String {
        let [_, whole] = self.recorded().swap_remove(0);
        whole
    }

    /// An event of a stream with this data.
    pub(crate) fn event(self, data: &str) -> String {
        match self {
            Self::Ollama => format!("{data}\n"),
            _ => format!("data: {data}\n\n"),
        }
    }

    /// Several events, between which there is an `&`.
    pub(crate) fn all_events(self, data: &str) -> String {
        data.split(" & ").map(|data| self.event(data)).collect()
    }

    /// What a client of this protocol makes of an answer.
    pub(crate) async fn outcome(self, answer: Answer) -> Result<ChatResponse, LlmError> {
        let server = Server::start([answer]).await;
        ask(&self.client(&server)).await
    }

    /// What a client of this protocol makes of the body of a stream.
    pub(crate) async fn events(self, body: &str) -> (Vec<Delta>, Result<ChatResponse, LlmError>) {
        let server = Server::start([Answer::Raw(streamed(body))]).await;
        follow(&self.client(&server)).await
    }
}

/// A reply without text, in which each protocol finds its own.
pub(crate) const EMPTY: &str = r#"{"choices":[{"message":{"content":""}}],"output":[],"content":[],"message":{"content":""},"done":true}"#;

/// The body of a request, with a line for each message, and one for the tools.
pub(crate) async fn sent(protocol: Protocol, request: ChatRequest) -> String {
    sent_with(protocol, &Settings::default(), request).await
}

pub(crate) async fn sent_with(
    protocol: Protocol,
    settings: &Settings<'_>,
    request: ChatRequest,
) -> String {
    let server = Server::start([ok(EMPTY)]).await;
    let client = protocol.client_with(&server.origin(), settings);
    client.complete(request).await.unwrap();
    let body = server.requests()[0].body.clone();

    serde_json::from_str::<Value>(&body).unwrap();
    let body = body.replace("},{\"role\"", "},\n{\"role\"");
    body.replace(",\"tools\"", ",\n\"tools\"")
}

/// The bodies of all protocols.
pub(crate) async fn sent_by_all(request: ChatRequest) -> String {
    let bodies = Protocol::ALL.map(|protocol| sent(protocol, request.clone()));
    futures_util::future::join_all(bodies).await.join("\n")
}

/// Checks a table of what is read of a reply, of which each row has a part, at the `$`.
pub(crate) async fn check_replies(protocol: Protocol, reply: &str, table: &str) {
    let read = async |part: &str| told(protocol.outcome(ok(&reply.replace('$', part))).await);
    check(table, read).await;
}

/// The memory that a call allocates, in bytes.
pub(crate) fn allocated<T>(call: impl Future<Output = T>) -> u64 {
    let measured = allocation_counter::measure(|| drop(block_on(call)));
    measured.bytes_total
}

pub(crate) fn block_on<T>(call: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(call)
}

/// What came of a call, in one line. The tokens are those read, written, cached, put into the cache
/// and thought.
pub(crate) fn told(outcome: Result<ChatResponse, LlmError>) -> String {
    let response = match outcome {
        Ok(response) => response,
        Err(error) => return error.to_string(),
    };

    let mut told = format!("{:?} {:?}", response.text(), response.finish_reason());
    if let Some(thinking) = response.reasoning() {
        told += &format!(" thought {thinking:?}");
    }
    for call in response.tool_calls() {
        told += &format!(" called {} {} {}", call.name(), call.id(), call.arguments());
    }
    if let Some(usage) = response.usage() {
        let [read, written] = [usage.prompt_tokens, usage.completion_tokens];
        let [cached, kept] = [usage.cached_tokens, usage.cache_written_tokens];
        let thought = usage.reasoning_tokens;
        told += &format!(" tokens {read} {written} {cached} {kept} {thought}");
    }

    told
}

pub(crate) fn hello() -> ChatRequest {
    ChatRequest::new([Message::user("Hello")])
}

pub(crate) async fn ask(client: &impl LlmClient) -> Result<ChatResponse, LlmError> {
    client.complete(hello()).await
}

/// The reply as it grows, all of it.
pub(crate) async fn follow(
    client: &impl LlmClient,
) -> (Vec<Delta>, Result<ChatResponse, LlmError>) {
    let mut deltas = Vec::new();
    let mut reply = match client.stream(hello()).await {
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

/// What an `OpenAiClient` makes of one answer.
pub(crate) async fn outcome(answer: Answer) -> Result<ChatResponse, LlmError> {
    Protocol::Chat.outcome(answer).await
}
