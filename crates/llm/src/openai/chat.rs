//! OpenAI's Chat Completions, as many servers speak it.

use std::mem;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::usage;
use crate::http::{Event, Secrets, check_error, error_of_text, parse};
use crate::wire::calls::{Growing, Piece};
use crate::wire::json::{Json, object};
use crate::wire::{
    self, Api, Body, Call, Decoded, Encoded, Framing, PROVIDER_DATA, Reader, Refusable, STRICT,
    count, decimal, finish_reason, invalid, list, text, tools, unreadable, with_names,
};
use crate::{
    Block, ChatRequest, ChatResponse, Delta, Effort, FinishReason, LlmError, LlmErrorKind, Message,
    ReplyFormat, Role, ToolCall, ToolChoice, Usage,
};

pub(super) const ENDPOINT: &str = "/chat/completions";
/// The field that requests usage in a stream.
const STREAM_OPTIONS: &str = "stream_options";
/// The fields of a message that servers want back, exactly as they sent them.
const KEPT: [&str; 4] = [
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    EXTRA_CONTENT,
];
/// Where Google's servers keep their signatures, in messages and calls.
const EXTRA_CONTENT: &str = "extra_content";

/// How a text begins that contains thinking.
const THINK: &str = "<think";
/// The number of entries of a list that may grow at the same time in a stream.
const OPEN_ENTRIES: usize = 64;

pub(super) static CHAT: Api = Api {
    endpoint: ENDPOINT,
    framing: Framing::Events,
    encode,
    decode,
    reader: || Box::new(Pieces::default()),
    refusable: &[
        // First, because these messages also name reasoning_effort.
        Refusable::replace(ENDPOINT, super::responses::ENDPOINT).named("/v1/responses"),
        Refusable::replace("max_tokens", "max_completion_tokens"),
        Refusable::replace("max_completion_tokens", "max_tokens"),
        Refusable::omit("temperature"),
        Refusable::omit("top_p"),
        Refusable::omit("seed"),
        Refusable::omit("stop"),
        Refusable::omit(STREAM_OPTIONS),
        Refusable::omit(STRICT),
        Refusable::omit(PROVIDER_DATA).named("reasoning_content"),
        Refusable::omit(PROVIDER_DATA).named("reasoning_details"),
        Refusable::omit(PROVIDER_DATA).named("extra_content"),
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

    // Some servers refuse the options of a stream. Null leaves them out.
    let options = match call.extra.get(STREAM_OPTIONS) {
        Some(Value::Null) => None,
        Some(options) => Some(options.clone()),
        None => Some(json!({"include_usage": true})),
    };

    let mut body = Body::new(call);
    body.set("messages", turns(call)?);
    body.set("max_tokens", request.max_tokens());
    body.set("temperature", request.temperature().map(decimal));
    body.set("reasoning_effort", request.effort().map(Effort::as_str));
    body.set("seed", request.seed());
    body.set("stop", request.stop());
    body.set("stream", call.stream.then_some(true));
    body.set_only(STREAM_OPTIONS, options.filter(|_| call.stream));
    body.set("response_format", request.format().map(format).transpose()?);
    let tools = tools::definitions(request, || body.allows(STRICT), tool)?;
    body.set("tools", tools);
    body.set("tool_choice", choice);
    body.encoded()
}

fn turns<'a>(call: &Call<'a>) -> Result<Json<'a>, LlmError> {
    let messages = call.request.messages().iter().zip(&call.returned);
    let turns = (0_usize..).zip(messages);

    turns
        .map(|(place, (message, returned))| turn(place, message, *returned, call.request))
        .collect()
}

fn turn<'a>(
    place: usize,
    message: &'a Message,
    returned: Option<&str>,
    request: &ChatRequest,
) -> Result<Json<'a>, LlmError> {
    if message.role() == Role::Tool && !message.blocks().is_empty() {
        let problem = "has images or files in the role tool; expected them in the role user";
        return Err(invalid(format!("messages[{place}] {problem}")));
    }

    let kept = returned.and_then(|data| serde_json::from_str::<Kept>(data).ok());
    let mut kept = kept.unwrap_or_default();
    let text = message.text();
    let content = match (kept.message.remove("content"), message.blocks()) {
        (Some(content), _) => content.into(),
        (None, []) if text.is_empty() && !message.tool_calls().is_empty() => Json::Null,
        (None, []) => text.into(),
        (None, blocks) => {
            let said = Some(json!({"type": "text", "text": text})).filter(|_| !text.is_empty());
            let parts: Value = blocks.iter().map(part).chain(said).collect();
            parts.into()
        }
    };

    let fields = kept.calls.into_iter().chain(std::iter::repeat(Map::new()));
    let calls = message.tool_calls().iter().zip(fields);
    let calls: Vec<_> = calls
        .map(|(call, fields)| function_call(call, fields, request))
        .collect();
    let fields = [
        ("role", message.role().as_str().into()),
        ("content", content),
        (
            "tool_calls",
            Some(calls).filter(|calls| !calls.is_empty()).into(),
        ),
        ("tool_call_id", message.tool_call_id().into()),
    ];
    let kept = KEPT.map(|name| (name, kept.message.remove(name).into()));
    Ok(object(fields.into_iter().chain(kept)))
}

fn part(block: &Block) -> Value {
    match block {
        Block::Image { media_type, data } => {
            json!({"type": "image_url", "image_url": {"url": data_url(media_type, data)}})
        }
        Block::ImageUrl { url } => json!({"type": "image_url", "image_url": {"url": **url}}),
        Block::File {
            name,
            media_type,
            data,
        } => json!({
            "type": "file",
            "file": {"filename": **name, "file_data": data_url(media_type, data)},
        }),
    }
}

pub(super) fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}

fn function_call<'a>(
    call: &'a ToolCall,
    mut kept: Map<String, Value>,
    request: &ChatRequest,
) -> Json<'a> {
    let function = object([
        ("name", tools::name(call, request).into()),
        ("arguments", tools::arguments(call).into()),
    ]);

    object([
        ("id", call.id().into()),
        ("type", "function".into()),
        ("function", function),
        (EXTRA_CONTENT, kept.remove(EXTRA_CONTENT).into()),
    ])
}

/// What a server wants back with a message: fields of the message, and of each call.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    message: Map<String, Value>,
    calls: Vec<Map<String, Value>>,
    /// The size of what isn't part of the reply otherwise, in bytes.
    #[serde(skip)]
    bytes: usize,
}

impl Kept {
    /// Adds the fields of a message, or of a piece of one.
    fn add(&mut self, message: &Value) {
        for name in KEPT {
            if let Some(more) = message.get(name).filter(|value| !value.is_null()) {
                self.bytes += bytes(more);
                grow(self.message.entry(name).or_insert(Value::Null), more);
            }
        }

        let calls = list(message, "/tool_calls").iter();
        for (place, call) in (0_u64..).zip(calls) {
            let extra = call.get(EXTRA_CONTENT).filter(|extra| !extra.is_null());
            let place = usize::try_from(count(call, "/index").unwrap_or(place));
            if let (Some(extra), Ok(place @ ..128)) = (extra, place) {
                let count = self.calls.len().max(place + 1);
                self.calls.resize_with(count, Map::new);
                self.bytes += bytes(extra);
                if let Some(fields) = self.calls.get_mut(place) {
                    fields.insert(EXTRA_CONTENT.to_owned(), extra.clone());
                }
            }
        }
    }

    /// Adds the content of a complete message, if its text doesn't contain everything: servers that
    /// write thinking into the content want it back there.
    fn add_content(&mut self, content: &Value) {
        let is_thinking = |part: &Value| part.get("type").is_some_and(|kind| kind == "thinking");
        let has_thinking = match content {
            Value::Array(parts) => parts.iter().any(is_thinking),
            Value::String(text) => text.trim_start().starts_with(THINK),
            _ => false,
        };

        if has_thinking {
            self.message.insert("content".to_owned(), content.clone());
        }
    }

    fn into_data(self) -> Option<String> {
        let is_empty = self.message.is_empty() && self.calls.is_empty();
        (!is_empty).then(|| json!(self).to_string())
    }
}

/// Returns the size of a value that isn't a text, such as a list of signed parts.
fn bytes(value: &Value) -> usize {
    match value {
        Value::String(_) => 0,
        other => other.to_string().len(),
    }
}

/// Adds a piece of a field to what has arrived of it: texts are continued, and so are the entries of
/// lists with the same index. Anything else is replaced.
fn grow(known: &mut Value, more: &Value) {
    match (known, more) {
        (Value::String(known), Value::String(more)) => known.push_str(more),
        (Value::Array(known), Value::Array(more)) => {
            for entry in more {
                let index = entry.get("index");
                let same = known
                    .iter_mut()
                    .rev()
                    .take(OPEN_ENTRIES)
                    .find(|known| index.is_some() && known.get("index") == index);
                match same {
                    Some(known) => grow_entry(known, entry),
                    None => known.push(entry.clone()),
                }
            }
        }
        (known, more) => *known = more.clone(),
    }
}

fn grow_entry(known: &mut Value, more: &Value) {
    let (Value::Object(known), Value::Object(more)) = (known, more) else {
        return;
    };

    for (name, value) in more.iter().filter(|(_, value)| !value.is_null()) {
        let known = known.entry(name.as_str()).or_insert(Value::Null);
        match (name.as_str(), known) {
            ("text" | "summary" | "data", known) => grow(known, value),
            (_, known) => *known = value.clone(),
        }
    }
}

/// Reads a complete response.
fn decode(body: &[u8], secrets: &Secrets) -> Result<Decoded, LlmError> {
    let completion = parse("chat completion", body, secrets)?;
    check_error(&completion, secrets)?;

    let choice = list(&completion, "/choices").first();
    let choice =
        choice.ok_or_else(|| unreadable("the response has no choices; expected at least one"))?;
    let nothing = Value::Null;
    let message = choice.get("message").unwrap_or(&nothing);
    // Servers with the older completions API have the text in the choice.
    let content = message.get("content").filter(|content| !content.is_null());
    let content = content.or(choice.get("text"));
    if !message.is_object() && content.is_none() {
        return Err(unreadable(
            "choices[0] is empty; expected a message or text",
        ));
    }

    let said = content.and_then(wire::content);
    let calls: Vec<ToolCall> = Piece::all_of(message)
        .into_iter()
        .filter_map(Piece::into_call)
        .collect();
    let is_empty = said.as_deref().unwrap_or_default().is_empty() && calls.is_empty();
    if let Some(refusal) = text(message, "/refusal").filter(|_| is_empty) {
        return Err(refused(&refusal, secrets));
    }

    // A reply that is truncated before its first text, such as within the reasoning, has a finish
    // reason that explains it.
    let reason = finish_reason(&text(choice, "/finish_reason").unwrap_or_default());
    let has_no_text = content.is_some_and(Value::is_array) && said.is_none();
    if has_no_text && calls.is_empty() && reason != FinishReason::Length {
        return Err(unreadable(
            "choices[0] has content without text; expected text in at least one part",
        ));
    }

    let mut kept = Kept::default();
    kept.add(message);
    kept.add_content(content.unwrap_or(&nothing));

    let response = ChatResponse::new(said.unwrap_or_default())
        .with_finish_reason(reason)
        .with_reasoning(reasoning(message).unwrap_or_default())
        .with_tool_calls(calls);
    Ok(Decoded {
        response: with_usage(with_names(response, &completion), usage(&completion)),
        data: kept.into_data(),
    })
}

fn with_usage(response: ChatResponse, usage: Option<Usage>) -> ChatResponse {
    match usage {
        Some(usage) => response.with_usage(usage),
        None => response,
    }
}

/// Returns the reasoning, under the names that servers use, or in parts of the content.
fn reasoning(message: &Value) -> Option<String> {
    let named = text(message, "/reasoning_content").or_else(|| text(message, "/reasoning"));
    let in_parts = || {
        let parts = list(message, "/content").iter();
        let thinking: Vec<String> = parts
            .flat_map(|part| list(part, "/thinking"))
            .filter_map(|part| text(part, "/text"))
            .collect();
        Some(thinking.concat()).filter(|thinking| !thinking.is_empty())
    };

    named.or_else(in_parts)
}

pub(super) fn refused(refusal: &str, secrets: &Secrets) -> LlmError {
    let message = format!("the model refused: {}", secrets.line(refusal));
    LlmError::new(LlmErrorKind::ContentFilter, message)
}

/// What the chunks of a stream contained in addition to the text.
#[derive(Default)]
struct Pieces {
    finish_reason: Option<FinishReason>,
    usage: Option<Usage>,
    model: Option<String>,
    id: Option<String>,
    refusal: String,
    calls: Growing,
    has_text: bool,
    kept: Kept,
    /// The parts of the content, if it has parts, or text that begins with thinking.
    content: Option<Value>,
}

impl Pieces {
    /// Returns the calls, and the response without its texts and calls.
    fn end(&mut self, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        if !self.has_text && self.calls.is_empty() && !self.refusal.is_empty() {
            return Err(refused(&self.refusal, secrets));
        }

        let names = json!({"model": self.model.take(), "id": self.id.take()});
        let response = ChatResponse::default()
            .with_finish_reason(self.finish_reason.take().unwrap_or_default());
        let response = with_usage(with_names(response, &names), self.usage.take());
        let calls = self.calls.finish().map(Delta::ToolCall);

        Ok(calls.chain([Delta::End(response)]).collect())
    }

    fn choice(&mut self, choice: &Value) -> Result<Vec<Delta>, LlmError> {
        let mut deltas = Vec::new();
        if let Some(reason) = text(choice, "/finish_reason") {
            self.finish_reason = Some(finish_reason(&reason));
        }

        let nothing = Value::Null;
        let delta = choice.get("delta").unwrap_or(&nothing);
        deltas.extend(reasoning(delta).map(Delta::Reasoning));
        self.refusal
            .push_str(&text(delta, "/refusal").unwrap_or_default());
        for piece in Piece::all_of(delta) {
            self.calls.add(piece)?;
        }
        self.kept.add(delta);

        let content = delta.get("content").filter(|content| !content.is_null());
        if let Some(content) = content.or(choice.get("text")) {
            self.keep_content(content);
            let said = wire::content(content).filter(|text| !text.is_empty());
            self.has_text |= said.is_some();
            deltas.extend(said.map(Delta::Text));
        }

        Ok(deltas)
    }

    /// Keeps parts of the content, and text that may begin with thinking.
    fn keep_content(&mut self, piece: &Value) {
        match (&mut self.content, piece) {
            (None, piece) => self.content = Some(piece.clone()),
            (Some(Value::Array(parts)), Value::Array(more)) => {
                more.iter().for_each(|part| keep_part(parts, part));
            }
            (Some(Value::Array(parts)), Value::String(more)) => {
                keep_part(parts, &json!({"type": "text", "text": more}));
            }
            (Some(Value::String(text)), Value::String(more)) => {
                let beginning = text.trim_start();
                if beginning.len() < THINK.len() || beginning.starts_with(THINK) {
                    text.push_str(more);
                }
            }
            _ => {}
        }
    }
}

/// Adds a part of a content, or a piece that continues the last part.
fn keep_part(parts: &mut Vec<Value>, part: &Value) {
    let last = parts.last_mut();
    let same = last.filter(|last| last.get("type") == part.get("type"));
    let Some(last) = same else {
        parts.push(part.clone());
        return;
    };

    for pointer in ["/text", "/thinking/0/text"] {
        if let (Some(known), Some(more)) = (last.pointer_mut(pointer), part.pointer(pointer)) {
            grow(known, more);
        }
    }
}

impl Reader for Pieces {
    fn read(&mut self, event: &Event, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        if event.data.trim() == "[DONE]" {
            return self.end(secrets);
        }

        let chunk = parse("chunk of a chat completion", event.data.as_bytes(), secrets)?;
        check_error(&chunk, secrets)?;
        if event.name == "error" {
            return Err(error_of_text(&event.data, secrets));
        }

        // With continuous usage, each chunk contains the totals so far.
        self.usage = usage(&chunk).or(self.usage);
        self.model = self.model.take().or_else(|| text(&chunk, "/model"));
        self.id = self.id.take().or_else(|| text(&chunk, "/id"));

        // If several choices were requested, only the first is used.
        let is_first = |choice: &&Value| count(choice, "/index").unwrap_or_default() == 0;
        match list(&chunk, "/choices").first().filter(is_first) {
            Some(choice) => self.choice(choice),
            None => Ok(Vec::new()),
        }
    }

    fn held(&self) -> usize {
        self.refusal.len() + self.calls.bytes() + self.kept.bytes
    }

    fn end_without_mark(&mut self, secrets: &Secrets) -> Result<Option<Vec<Delta>>, LlmError> {
        if self.finish_reason.is_none() {
            return Ok(None);
        }

        self.end(secrets).map(Some)
    }

    fn data(&mut self) -> Option<String> {
        let mut kept = mem::take(&mut self.kept);
        kept.add_content(&self.content.take().unwrap_or_default());

        kept.into_data()
    }
}
