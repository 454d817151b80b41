//! Writes requests of OpenAI's Chat Completions, as many servers read them.

use serde_json::{Map, Value, json};

use super::chat_reply::{self, CONTENT, EXTRA_CONTENT, KEPT, TOOL_CALLS};
use super::url;
use crate::wire::json::{Json, object};
use crate::wire::{
    self, Api, Body, Call, Encoded, Framing, PROVIDER_DATA, Refusable, STRICT, decimal, tools,
};
use crate::{
    Block, ChatRequest, Effort, LlmError, Message, ReplyFormat, Role, ToolCall, ToolChoice,
};

pub(super) const ENDPOINT: &str = "/chat/completions";
/// The field that requests usage in a stream.
const STREAM_OPTIONS: &str = "stream_options";
const SIGNATURE: &str = "thought_signature";
const THINKING: &str = "reasoning_content";
/// The signature that Gemini accepts with calls of other models.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";
/// The thinking that DeepSeek accepts with messages of other models.
const NO_THINKING: &str = "an empty text";

pub(super) static CHAT: Api = Api {
    endpoint: ENDPOINT,
    framing: Framing::Events,
    encode,
    decode: chat_reply::decode,
    assembly: || Box::new(chat_reply::Pieces::default()),
    refusable: &[
        // First, because these messages also name reasoning_effort.
        Refusable::new("/v1/responses", ENDPOINT, Some(super::responses::ENDPOINT)),
        Refusable::new("max_tokens", "max_tokens", Some("max_completion_tokens")),
        Refusable::omit("max_completion_tokens"),
        Refusable::omit("temperature"),
        Refusable::omit("top_p"),
        Refusable::omit("seed"),
        Refusable::omit("stop"),
        Refusable::omit(STREAM_OPTIONS),
        Refusable::omit(STRICT),
        // These want something with every earlier message, even with those of other models.
        Refusable::new(SIGNATURE, SIGNATURE, Some(NO_SIGNATURE)),
        Refusable::new("must be passed back", THINKING, Some(NO_THINKING)),
        Refusable::new("Missing reasoning_content", THINKING, Some(NO_THINKING)),
        Refusable::new("reasoning_content is missing", THINKING, Some(NO_THINKING)),
        Refusable::new(THINKING, PROVIDER_DATA, None),
        Refusable::new("reasoning_details", PROVIDER_DATA, None),
        Refusable::new("extra_content", PROVIDER_DATA, None),
    ],
    data_has_call_ids: false,
};

/// Returns a tool, also in the API of Ollama.
pub(crate) fn tool<'a>([name, description, schema]: [Json<'a>; 3], strict: bool) -> Json<'a> {
    let function = object([
        ("name", name),
        ("description", description),
        ("parameters", schema),
        ("strict", strict.then_some(true).into()),
    ]);
    object([("type", "function".into()), ("function", function)])
}

fn format(format: &ReplyFormat) -> Result<Json<'_>, LlmError> {
    Ok(match format {
        ReplyFormat::Json => json!({"type": "json_object"}).into(),
        ReplyFormat::Schema { name, schema } => {
            let schema = object([
                ("name", (&**name).into()),
                ("schema", wire::reply_schema(schema)?.into()),
                ("strict", true.into()),
            ]);
            object([("type", "json_schema".into()), ("json_schema", schema)])
        }
    })
}

fn encode(call: &Call<'_>) -> Result<Encoded, LlmError> {
    let request = call.request;
    let choice = tools::choice(request).map(|choice| match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name}}),
    });

    let options = call.stream.then(|| json!({"include_usage": true}));
    let mut body = Body::new(call);
    let stand_in = stand_in(!body.allows(SIGNATURE), !body.allows(THINKING));
    let turn = |message, returned| Ok(turn(message, returned, &stand_in, request));
    body.set("messages", wire::messages(call, turn)?);
    body.set("max_tokens", request.max_tokens().map(Value::from));
    body.set("temperature", request.temperature().map(decimal));
    body.set("reasoning_effort", request.effort().map(Effort::as_str));
    body.set("seed", request.seed().map(Value::from));
    body.set("stop", request.stop());
    body.set("stream", call.stream.then_some(true));
    body.set(STREAM_OPTIONS, options);
    body.set("response_format", request.format().map(format).transpose()?);
    let tools = tools::definitions(request, || body.allows(STRICT), tool)?;
    body.set("tools", tools);
    body.set("tool_choice", choice);
    body.encoded()
}

/// Returns what is sent with replies that have no data to return.
fn stand_in(needs_signature: bool, needs_thinking: bool) -> Map<String, Value> {
    let mut stand_in = Map::new();
    if needs_thinking {
        stand_in.insert(THINKING.to_owned(), json!(""));
    }
    if needs_signature {
        let signature = json!([{"google": {SIGNATURE: NO_SIGNATURE}}]);
        stand_in.insert(TOOL_CALLS.to_owned(), signature);
    }

    stand_in
}

fn turn<'a>(
    message: &'a Message,
    returned: Option<&str>,
    stand_in: &Map<String, Value>,
    request: &ChatRequest,
) -> Json<'a> {
    let mut kept = match returned {
        Some(data) => serde_json::from_str(data).unwrap_or_default(),
        None if message.role() == Role::Assistant => stand_in.clone(),
        None => Map::new(),
    };
    let text = message.text();
    let content = match (kept.remove(CONTENT), message.blocks()) {
        (Some(content), _) => content.into(),
        // Some servers refuse an empty text beside calls.
        (None, []) if text.is_empty() && !message.tool_calls().is_empty() => Value::Null.into(),
        (None, []) => text.into(),
        (None, blocks) => {
            let said = Some(json!({"type": "text", "text": text})).filter(|_| !text.is_empty());
            let parts: Value = blocks.iter().map(part).chain(said).collect();
            parts.into()
        }
    };

    let extras = kept
        .remove(TOOL_CALLS)
        .and_then(|extras| serde_json::from_value(extras).ok());
    let mut extras = Vec::into_iter(extras.unwrap_or_default());
    let calls: Vec<_> = message
        .tool_calls()
        .iter()
        .map(|call| function_call(call, extras.next(), request))
        .collect();
    let fields = [
        ("role", message.role().as_str().into()),
        ("content", content),
        (TOOL_CALLS, calls.into()),
        ("tool_call_id", message.tool_call_id().into()),
    ];
    let kept = KEPT.map(|name| (name, kept.remove(name).into()));
    object(fields.into_iter().chain(kept))
}

fn part(block: &Block) -> Value {
    match block {
        Block::File { name, .. } => {
            json!({"type": "file", "file": {"filename": **name, "file_data": url(block)}})
        }
        _ => json!({"type": "image_url", "image_url": {"url": url(block)}}),
    }
}

fn function_call<'a>(call: &'a ToolCall, extra: Option<Value>, request: &ChatRequest) -> Json<'a> {
    let function = object([
        ("name", tools::name(call, request).into()),
        ("arguments", tools::arguments(call).into()),
    ]);

    object([
        ("id", call.id().into()),
        ("type", "function".into()),
        ("function", function),
        (EXTRA_CONTENT, extra.filter(|extra| !extra.is_null()).into()),
    ])
}
