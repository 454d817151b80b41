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
use axum::body::Bytes;
use axum::http::{StatusCode, Uri};
use axum::response::IntoResponse;
use cogwork_llm::{AnthropicClient, LlmClient, OllamaClient, OpenAiApi, OpenAiClient};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

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
    server: fn() -> Box<dyn Dialect>,
    pub(crate) client: fn(&str, &str) -> Box<dyn LlmClient>,
}

impl Row {
    const fn new(
        name: &'static str,
        server: fn() -> Box<dyn Dialect>,
        client: fn(&str, &str) -> Box<dyn LlmClient>,
    ) -> Self {
        Self {
            name,
            server,
            client,
        }
    }

    /// Starts a server of this kind whose model gives these replies, and then says "Done.".
    pub(crate) async fn start(&self, replies: Vec<Reply>) -> Server {
        Server::with_model((self.server)(), replies).await
    }

    /// Returns whether a refusal is one of those that a client mends.
    pub(crate) fn is_mended(&self, refusal: &str) -> bool {
        let expected = match self.name {
            "Claude of 2025" => "cache_control",
            "OpenAI, which names Responses" => "/v1/responses",
            "Mistral" => "stream_options",
            _ => return false,
        };
        refusal.contains(expected)
    }
}

pub(crate) const ROWS: [Row; 13] = [
    Row::new("Claude", || Box::new(Claude::default()), claude_client),
    Row::new("OpenAI Responses", || Box::new(OpenAi::gpt()), responses),
    Row::new("Gemini", || host(chat::GEMINI), chat_client),
    Row::new("DeepSeek", || host(chat::DEEPSEEK), chat_client),
    Row::new("OpenRouter", || host(chat::OPENROUTER), chat_client),
    Row::new("Ollama", || Box::new(Ollama::default()), ollama_client),
    Row::new(
        "OpenAI, which names Responses",
        || Box::new(OpenAi::gpt()),
        chat_client,
    ),
    Row::new(
        "Claude of 2025",
        || Box::new(Claude::older()),
        claude_client,
    ),
    Row::new("xAI", || Box::new(OpenAi::xai()), responses),
    Row::new("Kimi, GLM, llama.cpp", || host(chat::KIMI), chat_client),
    Row::new("Groq, vLLM", || host(chat::GROQ), chat_client),
    Row::new("MiniMax", || host(chat::MINIMAX), chat_client),
    Row::new("Mistral", || host(chat::MISTRAL), chat_client),
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
    fn answer(&mut self, path: &str, request: &Value, reply: Reply) -> Value;

    /// Returns the response as a stream.
    fn stream(&self, path: &str, answer: &Value) -> String;
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
    task: JoinHandle<()>,
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
        let replies: VecDeque<Reply> = replies.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));

        let log = seen.clone();
        let state = Arc::new(Mutex::new((dialect, replies)));
        let respond = move |uri: Uri, body: Bytes| {
            let (state, log) = (state.clone(), log.clone());
            async move {
                let body = String::from_utf8(body.to_vec()).unwrap();
                let (status, kind, answer) = {
                    let (dialect, replies) = &mut *state.lock().unwrap();
                    respond(dialect.as_mut(), replies, uri.path(), &body)
                };
                log.lock().unwrap().push(Seen {
                    path: uri.path().to_owned(),
                    body,
                    status,
                    answer: answer.clone(),
                });
                let status = StatusCode::from_u16(status).unwrap();
                (status, [("content-type", kind)], answer).into_response()
            }
        };
        let router = Router::new().fallback(respond);
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });

        Self { url, seen, task }
    }

    /// The address without a path.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The refusals, as they were sent.
    pub(crate) fn refusals(&self) -> Vec<String> {
        let refused = self
            .requests()
            .into_iter()
            .filter(|seen| seen.status != 200);
        refused.map(|seen| seen.answer).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn respond(
    dialect: &mut dyn Dialect,
    replies: &mut VecDeque<Reply>,
    path: &str,
    body: &str,
) -> (u16, &'static str, String) {
    let request: Value = serde_json::from_str(body).unwrap();
    if let Err(Refused(status, error)) = dialect.check(path, &request) {
        return (status, "application/json", error.to_string());
    }

    let reply = replies.pop_front().unwrap_or_else(|| Reply::says("Done."));
    let answer = dialect.answer(path, &request, reply);
    let is_streamed = match path {
        "/api/chat" => request["stream"] != false,
        _ => request["stream"] == true,
    };
    let (kind, answer) = match is_streamed {
        true => ("text/event-stream", dialect.stream(path, &answer)),
        false => ("application/json", answer.to_string()),
    };

    // A number that changes if it is parsed and written again.
    (
        200,
        kind,
        answer.replace("\"score\":1.1,", "\"score\":1.10,"),
    )
}

/// A message as it is without what a server wants back, and what the server wants back with it.
pub(crate) type Turn = (Value, Option<Value>);

/// What a server wants back: for each conversation that ends in a reply of its own, what it sent with
/// the reply.
#[derive(Default)]
pub(crate) struct Replies(HashMap<String, Option<Value>>);

/// What is wrong with the message at a place.
pub(crate) enum Wrong {
    Missing(usize),
    Changed(usize),
}

impl Replies {
    /// Checks the messages of a request. `head` is what precedes them. Those of another conversation
    /// must have nothing to be returned.
    pub(crate) fn check(&self, head: &Value, turns: &[Turn]) -> Result<(), Wrong> {
        for (place, (_, returned)) in turns.iter().enumerate() {
            let sent = self.0.get(&Self::key(head, &turns[..=place]));
            match (sent.cloned().flatten(), returned) {
                (Some(_), None) => return Err(Wrong::Missing(place)),
                (sent, returned) if sent != *returned => return Err(Wrong::Changed(place)),
                _ => {}
            }
        }

        Ok(())
    }

    /// Remembers a reply, which is the last turn.
    pub(crate) fn add(&mut self, head: &Value, turns: &[Turn]) {
        let (_, sent) = turns.last().unwrap();
        self.0.insert(Self::key(head, turns), sent.clone());
    }

    /// Returns whether the last turn is a reply of this server.
    pub(crate) fn has(&self, head: &Value, turns: &[Turn]) -> bool {
        self.0.contains_key(&Self::key(head, turns))
    }

    fn key(head: &Value, turns: &[Turn]) -> String {
        let plain: Vec<&Value> = turns.iter().map(|(plain, _)| plain).collect();
        json!([head, plain]).to_string()
    }
}

/// Splits a text as streams do.
pub(crate) fn halves(text: &str) -> [String; 2] {
    let middle = (text.len() / 2..=text.len())
        .find(|place| text.is_char_boundary(*place))
        .unwrap();
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

/// The name of a strict tool whose schema doesn't allow that.
pub(crate) fn loose_strict_tool(request: &Value, schema: &str) -> Option<String> {
    let tools = list(&request["tools"]).iter();
    let tools = tools.map(|tool| tool.get("function").unwrap_or(tool));
    let mut strict = tools.filter(|tool| tool["strict"] == true);
    let loose = strict.find(|tool| {
        let schema = &tool[schema];
        let properties = schema["properties"].as_object().unwrap();
        let required = list(&schema["required"]);
        schema["additionalProperties"] != false
            || properties.iter().any(|(name, property)| {
                !required.contains(&json!(name)) || property.get("maxLength").is_some()
            })
    });

    loose.map(|tool| tool["name"].as_str().unwrap().to_owned())
}
