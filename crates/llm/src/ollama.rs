//! The client for Ollama's own API, whose replies have the same form complete and streamed.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::http::{ChatConnection, Connection, HttpClientBuilder, Protocol, Secrets, client};
use crate::openai::chat::tool;
use crate::wire::calls::Piece;
use crate::wire::json::{Json, object};
use crate::wire::{
    Api, Assembly, Body, Call, Decoded, Encoded, Framing, count, decimal, finish_reason, invalid,
    list, reply_schema, text, tools, unreadable, with_names, with_usage,
};
use crate::{
    Block, ChatRequest, ChatResponse, Delta, Effort, LlmError, Message, ReplyFormat, Role,
    ToolCall, ToolChoice, Usage,
};

const ENDPOINT: &str = "/chat";

static OLLAMA: Protocol = Protocol {
    client: "OllamaClient",
    prefix: "/api",
    endpoints: &[ENDPOINT],
    example: "http://localhost:11434",
    hint: "",
    reserved: &["model", "messages", "stream"],
    key: ("authorization", "Bearer "),
    headers: &[],
};

static CHAT: Api = Api {
    endpoint: ENDPOINT,
    reply: "chat reply",
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
/// support files. For embeddings, use [`OpenAiEmbedder`](crate::OpenAiEmbedder) with the base URL
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
        ("num_predict", request.max_tokens().into()),
        ("temperature", request.temperature().map(decimal).into()),
        ("seed", request.seed().into()),
        ("stop", request.stop().into()),
    ];
    let has_options = options.iter().any(|(_, value)| value.is_present());
    let format = request.format().map(|format| match format {
        ReplyFormat::Json => Ok("json".into()),
        ReplyFormat::Schema { schema, .. } => reply_schema(schema).map(Json::from),
    });

    let mut body = Body::new(call);
    body.set("messages", turns(call)?);
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
        Effort::Minimal | Effort::Low => json!("low"),
        Effort::Medium => json!("medium"),
        Effort::High => json!("high"),
        Effort::XHigh | Effort::Max => json!("max"),
    }
}

/// The API has no tool choice. Sending no tools keeps the model from calling one.
fn tools(request: &ChatRequest) -> Result<Json<'_>, LlmError> {
    match request.tool_choice().unwrap_or(&ToolChoice::Auto) {
        ToolChoice::Auto => tools::definitions(request, || false, tool),
        ToolChoice::None => Ok(Json::Absent),
        _ if request.tools().is_empty() => Ok(Json::Absent),
        ToolChoice::Required | ToolChoice::Tool(_) => Err(invalid(
            "Ollama's API cannot force a tool call; expected the tool choice Auto or None",
        )),
    }
}

fn turns<'a>(call: &Call<'a>) -> Result<Json<'a>, LlmError> {
    let messages = call.request.messages().iter().zip(&call.returned);
    let turns = (0_usize..).zip(messages);

    turns
        .map(|(place, (message, thinking))| turn(place, message, *thinking))
        .collect()
}

fn turn<'a>(
    place: usize,
    message: &'a Message,
    thinking: Option<&'a str>,
) -> Result<Json<'a>, LlmError> {
    let wrong = |what: &str| invalid(format!("messages[{place}] has {what}"));
    if message.role() == Role::Tool && !message.blocks().is_empty() {
        return Err(wrong(
            "images or files in the role tool; expected them in the role user",
        ));
    }

    let images = message.blocks().iter().map(|block| match block {
        Block::Image { data, .. } => Ok(Json::from(&**data)),
        Block::ImageUrl { .. } => Err(wrong("an image URL; expected image data")),
        Block::File { .. } => Err(wrong("a file; expected images or text")),
    });
    let images: Vec<_> = images.collect::<Result<_, _>>()?;
    let calls: Vec<_> = message.tool_calls().iter().map(function_call).collect();

    Ok(object([
        ("role", message.role().as_str().into()),
        ("content", message.text().into()),
        ("thinking", thinking.into()),
        ("images", Some(images).filter(|all| !all.is_empty()).into()),
        (
            "tool_calls",
            Some(calls).filter(|all| !all.is_empty()).into(),
        ),
        ("tool_name", message.tool_name().into()),
        ("tool_call_id", message.tool_call_id().into()),
    ]))
}

fn function_call(call: &ToolCall) -> Json<'_> {
    let arguments = RawValue::from_string(tools::arguments(call).into_owned());
    let function = object([
        ("name", call.name().into()),
        ("arguments", arguments.map_or(Json::Null, Json::Raw)),
    ]);

    object([("id", call.id().into()), ("function", function)])
}

fn decode(reply: &Value, _: &[u8], _: &Secrets) -> Result<Decoded, LlmError> {
    let message = reply.get("message").ok_or_else(|| {
        unreadable("the response has no message; expected an object with content")
    })?;

    // The count is missing if the whole prompt was cached.
    let prompt = count(reply, "/prompt_eval_count");
    let completion = count(reply, "/eval_count");
    let usage = Usage::new(prompt.unwrap_or_default(), completion.unwrap_or_default());
    let usage = prompt.or(completion).map(|_| usage);

    let reason = text(reply, "/done_reason").unwrap_or_default();
    let thinking = text(message, "/thinking");
    let calls = Piece::all_of(message).into_iter();
    let response = ChatResponse::new(text(message, "/content").unwrap_or_default())
        .with_finish_reason(finish_reason(&reason))
        .with_reasoning(thinking.clone().unwrap_or_default())
        .with_tool_calls(calls.filter_map(Piece::into_call));

    Ok(Decoded {
        response: with_usage(with_names(response, reply), usage),
        data: thinking,
    })
}

/// A stream, whose last line contains everything but the texts and calls.
#[derive(Default)]
struct Pieces {
    content: String,
    thinking: String,
    calls: Vec<Value>,
    held: usize,
    last: Value,
}

impl Assembly for Pieces {
    fn add(
        &mut self,
        _: &str,
        line: &Value,
        received: &str,
    ) -> Result<Option<Vec<Delta>>, LlmError> {
        let content = text(line, "/message/content");
        let thinking = text(line, "/message/thinking");
        let calls = list(line, "/message/tool_calls");
        self.content
            .push_str(content.as_deref().unwrap_or_default());
        self.thinking
            .push_str(thinking.as_deref().unwrap_or_default());
        self.calls.extend_from_slice(calls);
        if !calls.is_empty() {
            self.held += received.len();
        }

        if line.get("done") == Some(&Value::Bool(true)) {
            self.last = line.clone();
            return Ok(None);
        }
        let thinking = thinking.map(Delta::Reasoning);
        let deltas = thinking.into_iter().chain(content.map(Delta::Text));
        Ok(Some(deltas.collect()))
    }

    fn held(&self) -> usize {
        self.held
    }

    fn whole(&mut self, secrets: &Secrets) -> Result<Decoded, LlmError> {
        let Self {
            content,
            thinking,
            calls,
            ..
        } = self;
        let message = json!({"content": content, "thinking": thinking, "tool_calls": calls});
        if let Value::Object(fields) = &mut self.last {
            fields.insert("message".to_owned(), message);
        }

        decode(&self.last, &[], secrets)
    }
}
