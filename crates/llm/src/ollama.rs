//! The client for Ollama's own API, whose replies have the same form complete and streamed.

use serde_json::{Value, json};

use crate::http::{ChatConnection, Connection, HttpClientBuilder, Protocol, client};
use crate::openai::chat::tool;
use crate::openai::chat_reply::{self, THINKING};
use crate::wire::json::{Json, object};
use crate::wire::{
    self, Added, Api, Assembly, Body, Call, Encoded, Framing, decimal, invalid, reply_schema, text,
    tools, unreadable,
};
use crate::{
    Block, ChatRequest, ChatResponse, Effort, LlmError, Message, ReplyFormat, ToolCall, ToolChoice,
};

const ENDPOINT: &str = "/chat";

static OLLAMA: Protocol = Protocol {
    client: "OllamaClient",
    prefix: "/api",
    example: "http://localhost:11434",
    hint: "",
    reserved: &["model", "messages", "stream"],
    key: ("authorization", "Bearer "),
    headers: &[],
};

static CHAT: Api = Api {
    endpoint: ENDPOINT,
    framing: Framing::Lines,
    encode,
    decode,
    assembly: || Box::new(Pieces::default()),
    refusable: &[],
    data_has_call_ids: false,
};

/// A client for [Ollama's own API](https://docs.ollama.com/api/chat), which loads models on demand
/// and has settings that its OpenAI-compatible API lacks.
///
/// Settings of the request are sent in `options`, under Ollama's names (`num_predict` for the token
/// limit). The [extra field](OllamaClientBuilder::with_extra) `options` adds others, such as
/// `num_ctx`; other extra fields, such as `keep_alive`, are sent at the top level.
/// Ollama silently truncates a conversation that is longer than `num_ctx`, so set it.
///
/// A streamed reply is complete only at the line with `done`. The thinking of earlier messages is
/// returned to the server. The API has no tool choice, supports images only as data, and doesn't
/// support files. For embeddings, use [`OpenAiEmbedder`](crate::embedding::OpenAiEmbedder) with the base URL
/// `http://localhost:11434/v1`.
///
/// Everything else is as documented for [`OpenAiClient`](crate::OpenAiClient): lenient decoding,
/// errors, redaction, proxies and certificates.
///
/// ```
/// use std::collections::BTreeMap;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, OllamaClient};
///
/// async fn greet() -> Result<String, LlmError> {
///     let client = OllamaClient::builder("http://localhost:11434", "qwen3:4b")
///         .with_extra("options", BTreeMap::from([("num_ctx", 16_384)]))
///         .build()?;
///     Ok(client.complete(ChatRequest::new([Message::user("Hello!")])).await?.into_text())
/// }
/// ```
#[derive(Clone)]
pub struct OllamaClient(ChatConnection);

/// The settings of an [`OllamaClient`].
pub type OllamaClientBuilder = HttpClientBuilder<OllamaClient>;

impl OllamaClient {
    fn of(connection: Connection) -> Self {
        Self(ChatConnection::new(connection, &CHAT, None))
    }

    /// Creates a builder for a client.
    ///
    /// `base_url` is the part of the URL before `/api/chat`, such as `http://localhost:11434`, with
    /// or without `/api`. `model` is the name of the model on the server.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OllamaClientBuilder {
        OllamaClientBuilder::new(&OLLAMA, Self::of, base_url.into(), model.into())
    }
}

client!(OllamaClient, [Streaming, Tools, JsonMode, JsonSchema]);

fn encode(call: &Call<'_>) -> Result<Encoded, LlmError> {
    let request = call.request;
    let options: [(&str, Json<'_>); 4] = [
        ("num_predict", request.max_tokens().map(Value::from).into()),
        ("temperature", request.temperature().map(decimal).into()),
        ("seed", request.seed().map(Value::from).into()),
        ("stop", request.stop().into()),
    ];
    let has_options = options.iter().any(|(_, value)| value.is_present());
    let format = request.format().map(|format| match format {
        ReplyFormat::Json => Ok("json".into()),
        ReplyFormat::Schema { schema, .. } => reply_schema(schema).map(Json::from),
    });

    let mut body = Body::new(call);
    body.set("messages", wire::messages(call, turn)?);
    body.set("stream", call.stream);
    body.set("options", has_options.then(|| object(options)));
    body.set("think", request.effort().map(think));
    body.set("format", format.transpose()?);
    body.set("tools", tools(request)?);
    body.encoded()
}

/// Returns how much to think. The API has three levels and the highest.
fn think(effort: Effort) -> Value {
    match effort {
        Effort::None => json!(false),
        // The levels end with high and max here.
        Effort::XHigh => json!("max"),
        effort => json!(effort.max(Effort::Low).as_str()),
    }
}

/// The API has no tool choice. Sending no tools keeps the model from calling one.
fn tools(request: &ChatRequest) -> Result<Json<'_>, LlmError> {
    match tools::choice(request).unwrap_or(&ToolChoice::Auto) {
        // Ollama guarantees no schemas of tools.
        ToolChoice::Auto => tools::definitions(request, || false, tool),
        ToolChoice::None => Ok(Json::Absent),
        ToolChoice::Required | ToolChoice::Tool(_) => Err(invalid(
            "Ollama's API cannot force a tool call; expected the tool choice Auto or None",
        )),
    }
}

fn turn<'a>(message: &'a Message, returned: Option<&str>) -> Result<Json<'a>, &'static str> {
    let returned = returned.and_then(|data| serde_json::from_str::<Value>(data).ok());
    let thinking = returned.and_then(|data| text(&data, &format!("/{THINKING}")));

    let images = message.blocks().iter().map(|block| match block {
        Block::Image { data, .. } => Ok(Json::from(&**data)),
        Block::ImageUrl { .. } => Err("an image URL; expected image data"),
        Block::File { .. } => Err("a file; expected images or text"),
    });
    let images: Vec<_> = images.collect::<Result<_, _>>()?;
    let calls: Vec<_> = message.tool_calls().iter().map(function_call).collect();

    Ok(object([
        ("role", message.role().as_str().into()),
        ("content", message.text().into()),
        ("thinking", thinking.map(Value::from).into()),
        ("images", images.into()),
        ("tool_calls", calls.into()),
        ("tool_name", message.tool_name().into()),
        ("tool_call_id", message.tool_call_id().into()),
    ]))
}

fn function_call(call: &ToolCall) -> Json<'_> {
    let function = object([
        ("name", call.name().into()),
        ("arguments", tools::raw_arguments(call)),
    ]);

    object([("id", call.id().into()), ("function", function)])
}

fn decode(reply: &Value, body: &[u8]) -> Result<ChatResponse, LlmError> {
    if reply.get("message").is_none() {
        return Err(unreadable(
            "the response has no message; expected an object with content",
        ));
    }

    // The messages have the fields of Chat Completions, so they are read there.
    chat_reply::decode(&chat_completion(reply), body)
}

/// Returns a reply, or a line of a stream, in the form of OpenAI's Chat Completions.
fn chat_completion(reply: &Value) -> Value {
    let message = reply.get("message");
    let prompt = reply.get("prompt_eval_count");
    let completion = reply.get("eval_count");
    json!({
        "model": reply.get("model"),
        "choices": [{
            "message": message,
            "delta": message,
            "finish_reason": reply.get("done_reason"),
        }],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion},
    })
}

/// A stream, whose last line contains everything but the texts and calls.
#[derive(Default)]
struct Pieces(chat_reply::Pieces);

impl Assembly for Pieces {
    fn add(&mut self, kind: &str, line: &Value, received: &str) -> Added {
        let added = self.0.add(kind, &chat_completion(line), received)?;
        let is_done = line.get("done") == Some(&Value::Bool(true));
        Ok(added.filter(|_| !is_done))
    }

    fn whole(&mut self) -> Result<ChatResponse, LlmError> {
        self.0.whole()
    }
}
