//! Writes requests of Anthropic's Messages API.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::wire::tools::{self, Arguments, name, plain};
use crate::wire::{CacheTime, Call, Encoded, Settings, decimal, invalid, reply_schema};
use crate::{Block, ChatRequest, Effort, LlmError, Message, ReplyFormat, Role, ToolChoice};

/// The default token limit, because the API requires one. Thinking counts.
const MAX_TOKENS: u32 = 16_384;
/// The only type of file that the API accepts.
const PDF: &str = "application/pdf";
/// The adjustment by which system messages after the first are sent as those of the user.
pub(super) const LATER_SYSTEM: &str = "system messages";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "OutputConfig::is_empty")]
    output_config: OutputConfig<'a>,
    #[serde(flatten)]
    settings: Map<String, Value>,
}

/// The effort and settings from `extra`, with the format added.
#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
    #[serde(flatten)]
    settings: Map<String, Value>,
}

impl OutputConfig<'_> {
    fn is_empty(&self) -> bool {
        self.format.is_none() && self.settings.is_empty()
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { schema: &'a RawValue },
}

impl<'a> Format<'a> {
    fn of(format: &'a ReplyFormat) -> Result<Self, LlmError> {
        match format {
            ReplyFormat::Json => Err(invalid(
                "the Messages API supports JSON only with a schema; expected a schema, or no format",
            )),
            ReplyFormat::Schema { schema, .. } => Ok(Self::JsonSchema {
                schema: reply_schema(schema)?,
            }),
        }
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
}

pub(super) fn encode(call: &Call<'_>) -> Result<Encoded, LlmError> {
    let request = call.request;
    let is_system = |message: &&Message| message.role() == Role::System;
    let leading = request.messages().iter().take_while(is_system);
    let system: Vec<&str> = leading.map(Message::text).collect();
    let skipped = system.len();

    let mut settings = Settings::new(call);
    let stop = Some(request.stop().to_vec()).filter(|stop| !stop.is_empty());
    settings.set("max_tokens", request.max_tokens());
    settings.set("system", (skipped > 0).then(|| system.join("\n\n")));
    settings.set("temperature", request.temperature().map(decimal));
    settings.set("stop_sequences", stop);
    settings.set("tool_choice", choice(call));
    settings.set("stream", call.stream.then_some(true));
    settings.set("cache_control", call.cache.map(cache_control));
    if let Some(effort) = request.effort() {
        set_effort(&mut settings, effort);
    }

    settings.add_extra(&[("tools", !request.tools().is_empty())]);
    settings.set_default("max_tokens", MAX_TOKENS);
    settings.adjust();

    let strict = tools::strictness(request, &mut settings);
    let tools = request.tools().iter().zip(strict).map(|(tool, strict)| {
        Ok(Tool {
            name: tool.name(),
            description: tool.description(),
            input_schema: tools::input_schema(tool)?,
            strict,
        })
    });

    let body = Body {
        model: call.model,
        messages: turns(call, skipped, &mut settings)?,
        tools: tools.collect::<Result<_, LlmError>>()?,
        output_config: OutputConfig {
            format: request.format().map(Format::of).transpose()?,
            settings: settings.take("output_config"),
        },
        settings: settings.fields(),
    };
    settings.encoded(&body)
}

fn cache_control(time: CacheTime) -> Value {
    match time {
        CacheTime::FiveMinutes => json!({"type": "ephemeral"}),
        CacheTime::Hour => json!({"type": "ephemeral", "ttl": "1h"}),
    }
}

/// Models without a fixed amount of thinking take an effort; the lowest that they have is `low`.
fn set_effort(settings: &mut Settings<'_>, effort: Effort) {
    if effort == Effort::None {
        settings.set("thinking", Some(json!({"type": "disabled"})));
        return;
    }

    let effort = effort.max(Effort::Low);
    settings.set("thinking", Some(json!({"type": "adaptive"})));
    settings.set("output_config", Some(json!({"effort": effort})));
}

/// Returns the tool choice. A changed choice would invalidate what the server has cached of the
/// messages, so calls aren't forbidden by it as long as the model calls no tool by itself.
fn choice(call: &Call<'_>) -> Option<Value> {
    let keeps_cache = call.cache.is_some() && !call.forbids_calls;

    match tools::choice(call.request)? {
        ToolChoice::Auto => Some(json!({"type": "auto"})),
        ToolChoice::None if keeps_cache => None,
        ToolChoice::None => Some(json!({"type": "none"})),
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Tool(name) => Some(json!({"type": "tool", "name": name})),
    }
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
    /// The content of an earlier reply.
    Returned(&'a RawValue),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        title: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Arguments<'a>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: Content<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

/// Returns the messages after the first `skipped` ones.
///
/// The API requires the results of all calls of one message in the next message, before anything
/// else in it. Each run of results therefore becomes one turn, together with the following text of
/// the user.
fn turns<'a>(
    call: &Call<'a>,
    skipped: usize,
    settings: &mut Settings<'_>,
) -> Result<Vec<Turn<'a>>, LlmError> {
    let mut turns: Vec<Turn<'a>> = Vec::new();
    // The number of results at the beginning of the last turn.
    let mut results = 0;
    let mut messages = call.request.messages().iter().zip(&call.returned);
    let mut place = 0_usize;

    while let Some((message, returned)) = messages.next() {
        place += 1;
        if place <= skipped {
            continue;
        }

        let follower = messages.clone().next().map(|(message, _)| message.role());
        let keeps_rank = message.role() == Role::System
            && may_be_system(turns.last(), follower)
            && settings.allows(LATER_SYSTEM);
        let (role, content) = match message.role() {
            Role::Assistant => ("assistant", said(message, *returned, call.request)),
            Role::Tool => ("user", Content::Parts(vec![result(place - 1, message)?])),
            Role::System if keeps_rank => ("system", Content::Text(message.text())),
            Role::System | Role::User => ("user", content(place - 1, message)?),
        };

        let is_result = message.role() == Role::Tool;
        match turns.last_mut().map(|turn| &mut turn.content) {
            Some(Content::Parts(parts)) if results > 0 && role == "user" => {
                let end = if is_result { results } else { parts.len() };
                parts.splice(end..end, content.into_parts());
            }
            _ => {
                results = 0;
                turns.push(Turn { role, content });
            }
        }

        results += usize::from(is_result);
    }

    Ok(turns)
}

/// Returns whether a system message may stand between these turns: the API accepts it after a turn of
/// the user, at the end or before a turn of the model.
fn may_be_system(before: Option<&Turn<'_>>, after: Option<Role>) -> bool {
    before.is_some_and(|turn| turn.role == "user") && matches!(after, None | Some(Role::Assistant))
}

impl<'a> Content<'a> {
    /// Omits an empty text, which the API doesn't accept as a part.
    fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Self::Text("") | Self::Returned(_) => Vec::new(),
            Self::Text(text) => vec![Part::Text { text }],
            Self::Parts(parts) => parts,
        }
    }
}

fn said<'a>(message: &'a Message, returned: Option<&'a str>, request: &ChatRequest) -> Content<'a> {
    if let Some(content) = returned.and_then(|data| serde_json::from_str(data).ok()) {
        return Content::Returned(content);
    }

    let text = Content::Text(message.text());
    if message.tool_calls().is_empty() {
        return text;
    }

    let calls = message.tool_calls().iter().map(|call| Part::ToolUse {
        id: plain(call.id()),
        name: name(call, request),
        input: Arguments::of(call),
    });

    Content::Parts(text.into_parts().into_iter().chain(calls).collect())
}

fn result(place: usize, message: &Message) -> Result<Part<'_>, LlmError> {
    Ok(Part::ToolResult {
        tool_use_id: plain(message.tool_call_id().unwrap_or_default()),
        content: content(place, message)?,
        is_error: message.is_tool_failure(),
    })
}

fn content(place: usize, message: &Message) -> Result<Content<'_>, LlmError> {
    let text = Content::Text(message.text());
    if message.blocks().is_empty() {
        return Ok(text);
    }

    let blocks = message.blocks().iter().map(|block| part(place, block));
    let text = text.into_parts().into_iter().map(Ok);
    Ok(Content::Parts(
        blocks.chain(text).collect::<Result<_, _>>()?,
    ))
}

fn part(place: usize, block: &Block) -> Result<Part<'_>, LlmError> {
    Ok(match block {
        Block::Image { media_type, data } => Part::Image {
            source: Source::Base64 { media_type, data },
        },
        Block::ImageUrl { url } => Part::Image {
            source: Source::Url { url },
        },
        Block::File {
            name,
            media_type,
            data,
        } if &**media_type == PDF => Part::Document {
            source: Source::Base64 { media_type, data },
            title: name,
        },
        Block::File { media_type, .. } => {
            let problem = format!(
                "messages[{place}] has a file of the type {media_type:?}; expected {PDF:?}"
            );
            return Err(invalid(problem));
        }
    })
}
