//! Imitations of the model servers of autumn 2026, made from their documentation, over HTTP on this
//! machine. They answer as the real ones do, and refuse with the text of the real ones whatever those
//! refuse. Above all, they want back exactly what they sent.
//!
//! Other crates include this file for tests of what they hand on.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests, of which each program uses a part"
)]

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{StatusCode, Uri};
use cogwork_llm::http::OpenAiApi;
use cogwork_llm::{AnthropicClient, LlmClient, OllamaClient, OpenAiClient};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) mod chat;
pub(crate) mod claude;
pub(crate) mod ollama;
pub(crate) mod openai;

use chat::{Chat, Host};
use claude::Claude;
use ollama::Ollama;
use openai::OpenAi;

/// A kind of server.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    server: Start,
    pub(crate) client: Connect,
    /// What the server refuses once, because no client can know it.
    mended: Option<&'static str>,
}

type Start = fn() -> Box<dyn Dialect>;
pub(crate) type Connect = fn(&str, &str) -> Box<dyn LlmClient>;

impl Row {
    const fn new(name: &'static str, server: Start, client: Connect) -> Self {
        Self {
            name,
            server,
            client,
            mended: None,
        }
    }

    const fn mends(mut self, setting: &'static str) -> Self {
        self.mended = Some(setting);
        self
    }

    /// Starts a server of this kind whose model gives these replies, and then says "Done.".
    pub(crate) async fn start(&self, replies: Vec<Reply>) -> Server {
        Server::with_model((self.server)(), replies).await
    }

    /// Returns whether a refusal is one of those that a client mends.
    pub(crate) fn is_mended(&self, refusal: &str) -> bool {
        self.mended.is_some_and(|setting| refusal.contains(setting))
    }
}

pub(crate) const ROWS: [Row; 13] = [
    Row::new("Claude", || Box::new(Claude::default()), claude_client),
    Row::new("OpenAI Responses", || Box::new(OpenAi::gpt()), responses),
    Row::new("Gemini", || host(chat::GEMINI), chat_client),
    Row::new("DeepSeek", || host(chat::DEEPSEEK), chat_client),
    Row::new("OpenRouter", || host(chat::OPENROUTER), chat_client),
    Row::new("Ollama", || Box::new(Ollama::default()), ollama_client),
    Row::new("OpenAI Chat", || Box::new(OpenAi::gpt()), chat_client).mends("/v1/responses"),
    Row::new(
        "Claude of 2025",
        || Box::new(Claude::older()),
        claude_client,
    )
    .mends("cache_control"),
    Row::new("xAI", || Box::new(OpenAi::xai()), responses),
    Row::new("Kimi, GLM, llama.cpp", || host(chat::KIMI), chat_client),
    Row::new("Groq, vLLM", || host(chat::GROQ), chat_client),
    Row::new("MiniMax", || host(chat::MINIMAX), chat_client),
    Row::new("Mistral", || host(chat::MISTRAL), chat_client).mends("stream_options"),
];

fn host(host: Host) -> Box<dyn Dialect> {
    Box::new(Chat::new(host))
}

pub(crate) fn chat_client(url: &str, model: &str) -> Box<dyn LlmClient> {
    let client = OpenAiClient::builder(format!("{url}/v1"), model);
    Box::new(client.build().unwrap())
}

pub(crate) fn responses(url: &str, model: &str) -> Box<dyn LlmClient> {
    let client = OpenAiClient::builder(format!("{url}/v1"), model);
    Box::new(client.with_api(OpenAiApi::Responses).build().unwrap())
}

pub(crate) fn claude_client(url: &str, model: &str) -> Box<dyn LlmClient> {
    Box::new(AnthropicClient::builder(url, model).build().unwrap())
}

pub(crate) fn ollama_client(url: &str, model: &str) -> Box<dyn LlmClient> {
    Box::new(OllamaClient::builder(url, model).build().unwrap())
}

/// What the model says in one reply.
#[derive(Clone, Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) thinking: Option<String>,
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) end: End,
}

/// Why the model stops, if not because it is done.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum End {
    #[default]
    Done,
    Paused,
    Refused,
    Cut,
}

impl Reply {
    pub(crate) fn says(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    pub(crate) fn thinks(mut self, thinking: impl Into<String>) -> Self {
        self.thinking = Some(thinking.into());
        self
    }

    pub(crate) fn calls(mut self, tool: &str, arguments: Value) -> Self {
        self.calls.push((tool.to_owned(), arguments));
        self
    }

    pub(crate) fn ends(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// A response without a success status.
pub(crate) struct Refused(pub(crate) u16, pub(crate) Value);

/// The API of a server.
pub(crate) trait Dialect: Send + 'static {
    /// Checks a request as the real server does.
    fn check(&mut self, path: &str, request: &Value) -> Result<(), Refused>;

    /// Returns the complete response, and remembers it.
    fn answer(&mut self, _path: &str, _request: &Value, _reply: Reply) -> Value {
        Value::Null
    }

    /// Returns the response as a stream.
    fn stream(&self, _path: &str, _answer: &Value) -> String {
        String::new()
    }
}

/// A request as the server got it, and the status of the response.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) body: String,
    pub(crate) status: u16,
    pub(crate) answer: String,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// A count in the response.
    pub(crate) fn count(&self, name: &str) -> u64 {
        let (_, rest) = self.answer.split_once(&format!("\"{name}\":")).unwrap();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    }
}

/// A running server.
pub(crate) struct Server {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Starts a server whose model gives these replies, and then says "Done.".
    pub(crate) async fn start(
        dialect: impl Dialect,
        replies: impl IntoIterator<Item = Reply>,
    ) -> Self {
        Self::with_model(Box::new(dialect), replies).await
    }

    async fn with_model(
        dialect: Box<dyn Dialect>,
        replies: impl IntoIterator<Item = Reply>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));

        let log = seen.clone();
        let replies: VecDeque<Reply> = replies.into_iter().collect();
        let model = Arc::new(Mutex::new((dialect, replies)));
        let respond = async move |uri: Uri, body: String| {
            let (dialect, replies) = &mut *model.lock().unwrap();
            let seen = respond(dialect.as_mut(), replies, uri.path(), body);
            let status = StatusCode::from_u16(seen.status).unwrap();
            let response = (status, seen.answer.clone());
            log.lock().unwrap().push(seen);
            response
        };
        let router = Router::new().fallback(respond);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });

        Self { url, seen }
    }

    /// The address without a path.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The body of the last request.
    pub(crate) fn last(&self) -> Value {
        self.requests().pop().unwrap().json()
    }

    /// The refusals, as they were sent.
    pub(crate) fn refusals(&self) -> Vec<String> {
        let requests = self.requests().into_iter();
        let refused = requests.filter(|seen| seen.status != 200);
        refused.map(|seen| seen.answer).collect()
    }
}

fn respond(
    dialect: &mut dyn Dialect,
    replies: &mut VecDeque<Reply>,
    path: &str,
    body: String,
) -> Seen {
    let request: Value = serde_json::from_str(&body).unwrap();
    let (status, answer) = match dialect.check(path, &request) {
        Err(Refused(status, error)) => (status, error.to_string()),
        Ok(()) => {
            let reply = replies.pop_front().unwrap_or_else(|| Reply::says("Done."));
            let answer = dialect.answer(path, &request, reply);
            match request["stream"] == true {
                true => (200, dialect.stream(path, &answer)),
                false => (200, answer.to_string()),
            }
        }
    };

    Seen {
        path: path.to_owned(),
        body,
        status,
        // A number that changes if it is parsed and written again.
        answer: answer.replace("\"score\":1.1,", "\"score\":1.10,"),
    }
}

/// A message as it is without what a server wants back, and what the server wants back with it.
type Turn = (Value, Option<Value>);

/// What a server wants with the calls of another conversation or model: a text, and where it is.
pub(crate) type StandIn = Option<(&'static str, &'static str)>;

/// What a server wants back: for each conversation that ends in a reply of its own, what it sent with
/// the reply.
#[derive(Default)]
pub(crate) struct Replies {
    sent: HashMap<String, Option<Value>>,
    count: usize,
    /// Whether nothing need be returned.
    may_lose: bool,
}

impl Replies {
    /// Returns the number of the next reply.
    pub(crate) fn next(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// Checks the messages of a request. Those of another conversation must have nothing to be
    /// returned but the stand-in. Returns the place of one that is wrong.
    pub(crate) fn check(&self, request: &Value, other: StandIn) -> Result<(), usize> {
        let turns = turns(request);
        for (place, (plain, returned)) in turns.iter().enumerate() {
            let sent = self.sent.get(&key(request, &turns[..=place]));
            let has_calls = plain.get(1).is_some_and(|calls| calls != &json!([]));
            let is_right = match (sent, other) {
                (None, Some((pointer, text))) if has_calls => {
                    let returned = returned.as_ref();
                    returned.and_then(|it| it.pointer(pointer)) == Some(&json!(text))
                }
                _ if self.may_lose && returned.is_none() => true,
                (sent, _) => sent.unwrap_or(&None) == returned,
            };
            if !is_right {
                return Err(place);
            }
        }

        Ok(())
    }

    /// Remembers a reply to a request: a message, or items.
    pub(crate) fn add(&mut self, request: &Value, reply: &Value) {
        let mut turns = turns(request);
        turns.extend(match reply {
            Value::Array(items) => openai::turns(items),
            message => vec![turn(message)],
        });
        let (_, sent) = turns.last().cloned().unwrap();
        self.sent.insert(key(request, &turns), sent);
    }
}

/// A conversation without what is returned.
fn key(request: &Value, turns: &[Turn]) -> String {
    let head = ["model", "tools", "system", "instructions"].map(|name| &request[name]);
    let plain: Vec<&Value> = turns.iter().map(|(plain, _)| plain).collect();
    json!([head, plain]).to_string()
}

fn turns(request: &Value) -> Vec<Turn> {
    match request["input"].as_array() {
        Some(items) => openai::turns(items),
        None => list(&request["messages"]).iter().map(turn).collect(),
    }
}

/// A message as a turn, in all APIs with messages.
fn turn(message: &Value) -> Turn {
    if message["role"] != "assistant" {
        return (message.clone(), None);
    }

    let content = &message["content"];
    let of_type = |kind: &'static str| {
        let blocks = list(content).iter();
        blocks.filter(move |block| block["type"] == kind)
    };
    let texts = of_type("text").filter_map(|block| block["text"].as_str());
    let text = match content.as_str() {
        Some(text) => text.rsplit("</think>\n\n").take(1).collect(),
        None => texts.collect::<String>(),
    };
    let functions = list(&message["tool_calls"]).iter();
    let extra: Vec<&Value> = functions
        .clone()
        .map(|call| &call["extra_content"])
        .collect();
    let functions = functions.map(|call| &call["function"]);
    let functions = functions.map(|call| json!([call["name"], call["arguments"]]));
    let uses = of_type("tool_use").map(|call| json!([call["id"], call["name"], call["input"]]));
    let calls: Vec<Value> = functions.chain(uses).collect();

    let mut returned = message.clone();
    let fields = returned.as_object_mut().unwrap();
    let has_thinking = content.as_str().is_some_and(|whole| whole != text);
    let plain = of_type("text").count() + of_type("tool_use").count();
    if !has_thinking && plain == list(content).len() {
        fields.remove("content");
    }
    for name in ["role", "tool_calls"] {
        fields.remove(name);
    }
    if extra.iter().any(|extra| !extra.is_null()) {
        fields.insert("calls".to_owned(), json!(extra));
    }
    fields.retain(|_, value| !value.is_null());
    let is_returned = !fields.is_empty();
    (json!([text, calls]), is_returned.then_some(returned))
}

/// Splits a text as streams do.
pub(crate) fn halves(text: &str) -> [String; 2] {
    let mut places = text.len() / 2..=text.len();
    let middle = places.find(|place| text.is_char_boundary(*place)).unwrap();
    let (first, second) = text.split_at(middle);
    [first.to_owned(), second.to_owned()]
}

/// Writes server-sent events.
pub(crate) fn events(events: &[Value]) -> String {
    let event = |event: &Value| match event["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    events.iter().map(event).collect()
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
