//! Writes requests of Anthropic's Messages API.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::wire::json::{Json, object};
use crate::wire::{
    Body, CacheTime, Call, Encoded, STRICT, decimal, invalid, reply_schema, split_system, tools,
};
use crate::{Block, ChatRequest, Effort, LlmError, Message, ReplyFormat, Role, ToolChoice};

/// The default token limit, because the API requires one. Thinking counts.
const MAX_TOKENS: u32 = 16_384;
/// The only type of file that the API accepts.
const PDF: &str = "application/pdf";
/// The adjustment by which system messages after the first are sent as those of the user.
pub(super) const LATER_SYSTEM: &str = "system messages";

pub(super) fn encode(call: &Call<'_>) -> Result<Encoded, LlmError> {
    let request = call.request;
    let (system, rest) = split_system(request);
    let is_extra = |name: &str| call.extra.contains_key(name);
    let default = (!is_extra("max_tokens")).then_some(MAX_TOKENS);
    let cache = call.cache.filter(|_| !is_extra("cache_control"));
    let (thinking, effort) = request.effort().map(thinking).unzip();
    let format = request.format().map(format).transpose()?;
    let has_output = format.is_some() || effort.as_ref().is_some_and(Option::is_some);
    let output = object([
        ("format", format.into()),
        ("effort", effort.flatten().into()),
    ]);

    let mut body = Body::new(call);
    let max_tokens = request.max_tokens().or(default);
    body.set("max_tokens", max_tokens.map(Value::from));
    body.set("system", system);
    let turns = turns(call, rest, || body.allows(LATER_SYSTEM))?;
    body.set("messages", turns);
    body.set("temperature", request.temperature().map(decimal));
    body.set("stop_sequences", request.stop());
    body.set("stream", call.stream.then_some(true));
    body.set("cache_control", cache.map(cache_control));
    body.set("thinking", thinking);
    body.set("output_config", has_output.then_some(output));
    let tools = tools::definitions(request, || body.allows(STRICT), tool)?;
    body.set("tools", tools);
    body.set("tool_choice", choice(call));
    body.encoded()
}

fn format(format: &ReplyFormat) -> Result<Json<'_>, LlmError> {
    match format {
        ReplyFormat::Json => Err(invalid(
            "the Messages API supports JSON only with a schema; expected a schema, or no format",
        )),
        ReplyFormat::Schema { schema, .. } => Ok(object([
            ("type", "json_schema".into()),
            ("schema", reply_schema(schema)?.into()),
        ])),
    }
}

fn tool<'a>([name, description, schema]: [Json<'a>; 3], strict: bool) -> Json<'a> {
    object([
        ("name", name),
        ("description", description),
        ("input_schema", schema),
        ("strict", strict.then_some(true).into()),
    ])
}

fn cache_control(time: CacheTime) -> Value {
    match time {
        CacheTime::FiveMinutes => json!({"type": "ephemeral"}),
        CacheTime::Hour => json!({"type": "ephemeral", "ttl": "1h"}),
    }
}

/// Returns the kind of thinking, and its effort. The lowest effort that models have is `low`.
fn thinking(effort: Effort) -> (Value, Option<&'static str>) {
    match effort {
        Effort::None => (json!({"type": "disabled"}), None),
        effort => {
            let effort = effort.max(Effort::Low);
            (json!({"type": "adaptive"}), Some(effort.as_str()))
        }
    }
}

/// Returns the tool choice. A changed choice would invalidate what the server has cached of the
/// messages, so calls aren't forbidden by it as long as the model calls no tool by itself.
fn choice(call: &Call<'_>) -> Option<Value> {
    let keeps_cache = call.cache.is_some() && !call.forbids_calls;

    match tools::choice(call.request)? {
        ToolChoice::Auto => Some(json!({"type": "auto"})),
        // A call that the model makes all the same is left out of the reply.
        ToolChoice::None if keeps_cache => None,
        ToolChoice::None => Some(json!({"type": "none"})),
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Tool(name) => Some(json!({"type": "tool", "name": name})),
    }
}

/// A message, whose content is a text, parts, or that of an earlier reply.
struct Turn<'a> {
    role: &'static str,
    content: Json<'a>,
    /// The number of tool results at the beginning of the content.
    results: usize,
}

/// Returns the messages after the first `skipped` ones.
///
/// The API requires the results of all calls of one message in the next message, before anything
/// else in it. Each run of results therefore becomes one turn, together with the following text of
/// the user.
fn turns<'a>(
    call: &Call<'a>,
    skipped: usize,
    mut allows_system: impl FnMut() -> bool,
) -> Result<Json<'a>, LlmError> {
    let mut turns: Vec<Turn<'a>> = Vec::new();
    let messages = call.request.messages().iter().zip(&call.returned);
    let mut messages = (0_usize..).zip(messages).skip(skipped).peekable();

    while let Some((place, (message, returned))) = messages.next() {
        let follower = messages.peek().map(|(_, (message, _))| message.role());
        // `allows_system` comes last, because it reports the change as made.
        let mut keeps_rank = || may_be_system(turns.last(), follower) && allows_system();
        let role = match message.role() {
            Role::Assistant => "assistant",
            Role::System if keeps_rank() => "system",
            Role::System | Role::User | Role::Tool => "user",
        };
        let content = match message.role() {
            Role::Assistant => said(message, *returned, call.request),
            Role::Tool => Json::List(vec![result(place, message)?]),
            Role::System | Role::User => content(place, message)?,
        };

        let is_result = message.role() == Role::Tool;
        match turns.last_mut().filter(|turn| turn.results > 0) {
            Some(turn) if role == "user" => turn.add(content, is_result),
            _ => turns.push(Turn {
                role,
                content,
                results: usize::from(is_result),
            }),
        }
    }

    let turns = turns.into_iter();
    Ok(turns
        .map(|turn| object([("role", turn.role.into()), ("content", turn.content)]))
        .collect())
}

/// Returns whether a system message may be between these turns: the API accepts it after a turn of
/// the user, at the end or before a turn of the model.
fn may_be_system(before: Option<&Turn<'_>>, after: Option<Role>) -> bool {
    before.is_some_and(|turn| turn.role == "user") && matches!(after, None | Some(Role::Assistant))
}

impl<'a> Turn<'a> {
    /// Adds a result after the other results, or text at the end.
    fn add(&mut self, content: Json<'a>, is_result: bool) {
        if let Json::List(parts) = &mut self.content {
            let end = if is_result { self.results } else { parts.len() };
            // The API refuses results that come after a text.
            parts.splice(end..end, into_parts(content));
            self.results += usize::from(is_result);
        }
    }
}

/// Omits an empty text, which the API doesn't accept as a part.
fn into_parts(content: Json<'_>) -> Vec<Json<'_>> {
    match content {
        Json::Text(text) if text.is_empty() => Vec::new(),
        Json::List(parts) => parts,
        text => vec![object([("type", "text".into()), ("text", text)])],
    }
}

fn said<'a>(message: &'a Message, returned: Option<&str>, request: &ChatRequest) -> Json<'a> {
    // Unparsed, because the signatures cover the text as it was received.
    let returned = returned.and_then(|data| serde_json::from_str::<&RawValue>(data).ok());
    if let Some(content) = returned {
        return content.into();
    }
    if message.tool_calls().is_empty() {
        return message.text().into();
    }

    let calls = message.tool_calls().iter().map(|call| {
        object([
            ("type", "tool_use".into()),
            ("id", tools::plain(call.id()).into()),
            ("name", tools::name(call, request).into()),
            ("input", tools::raw_arguments(call)),
        ])
    });
    let text = into_parts(message.text().into()).into_iter();
    text.chain(calls).collect()
}

fn result(place: usize, message: &Message) -> Result<Json<'_>, LlmError> {
    let id = tools::plain(message.tool_call_id().unwrap_or_default());
    let is_error = message.is_tool_failure().then_some(true);

    Ok(object([
        ("type", "tool_result".into()),
        ("tool_use_id", id.into()),
        ("content", content(place, message)?),
        ("is_error", is_error.into()),
    ]))
}

fn content(place: usize, message: &Message) -> Result<Json<'_>, LlmError> {
    if message.blocks().is_empty() {
        return Ok(message.text().into());
    }

    let blocks = message.blocks().iter().map(|block| part(place, block));
    let text = into_parts(message.text().into()).into_iter().map(Ok);
    blocks.chain(text).collect()
}

fn part(place: usize, block: &Block) -> Result<Json<'_>, LlmError> {
    let embedded = |media_type: &str, data: &str| json!({"type": "base64", "media_type": media_type, "data": data});

    let part = match block {
        Block::Image { media_type, data } => {
            json!({"type": "image", "source": embedded(media_type, data)})
        }
        Block::ImageUrl { url } => {
            json!({"type": "image", "source": {"type": "url", "url": **url}})
        }
        Block::File {
            name,
            media_type,
            data,
        } if &**media_type == PDF => {
            json!({"type": "document", "source": embedded(media_type, data), "title": **name})
        }
        Block::File { media_type, .. } => {
            let problem = format!(
                "messages[{place}] has a file of the type {media_type:?}; expected {PDF:?}"
            );
            return Err(invalid(problem));
        }
    };
    Ok(part.into())
}
