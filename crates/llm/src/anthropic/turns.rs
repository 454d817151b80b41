use std::borrow::Cow;

use serde::Serialize;

use crate::http::invalid;
use crate::http::tools::{Arguments, name, plain};
use crate::{Block, ChatRequest, LlmError, Message, Role};

/// The only type of file that the API accepts.
const PDF: &str = "application/pdf";

#[derive(Serialize)]
pub(super) struct Turn<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
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
pub(super) fn turns(request: &ChatRequest, skipped: usize) -> Result<Vec<Turn<'_>>, LlmError> {
    let mut turns: Vec<Turn<'_>> = Vec::new();

    // The number of results at the beginning of the last turn.
    let mut results = 0;
    for (place, message) in request.messages().iter().enumerate().skip(skipped) {
        let (role, content) = match message.role() {
            Role::Assistant => ("assistant", said(message, request)),
            Role::Tool => ("user", Content::Parts(vec![result(place, message)?])),
            Role::System | Role::User => ("user", content(place, message)?),
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

impl<'a> Content<'a> {
    /// Omits an empty text, which the API doesn't accept as a part.
    fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Self::Text("") => Vec::new(),
            Self::Text(text) => vec![Part::Text { text }],
            Self::Parts(parts) => parts,
        }
    }
}

fn said<'a>(message: &'a Message, request: &ChatRequest) -> Content<'a> {
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
    Ok(Content::Parts(
        blocks
            .chain(text.into_parts().into_iter().map(Ok))
            .collect::<Result<_, _>>()?,
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
