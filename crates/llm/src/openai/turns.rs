use std::borrow::Cow;

use serde::Serialize;

use crate::http::invalid;
use crate::http::tools::{Arguments, name};
use crate::{Block, ChatRequest, LlmError, Message, Role, ToolCall};

#[derive(Serialize)]
pub(super) struct Turn<'a> {
    role: Role,
    /// Null if the message contains only tool calls.
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
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
    Text { text: &'a str },
    ImageUrl { image_url: Image<'a> },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct Image<'a> {
    url: Cow<'a, str>,
}

#[derive(Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: String,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl<'a> Turn<'a> {
    pub(super) fn all_of(request: &'a ChatRequest) -> Result<Vec<Self>, LlmError> {
        let turns = request.messages().iter().enumerate();
        turns
            .map(|(place, message)| Self::of(place, message, request))
            .collect()
    }

    fn of(place: usize, message: &'a Message, request: &ChatRequest) -> Result<Self, LlmError> {
        let role = message.role();
        let text = message.text();
        if role == Role::Tool && !message.blocks().is_empty() {
            let problem = "has images or files in the role tool; expected them in the role user";
            return Err(invalid(format!("messages[{place}] {problem}")));
        }

        let content = match message.blocks() {
            [] if text.is_empty() && !message.tool_calls().is_empty() => None,
            [] => Some(Content::Text(text)),
            blocks => {
                let said = Some(Part::Text { text }).filter(|_| !text.is_empty());
                Some(Content::Parts(
                    blocks.iter().map(Part::of).chain(said).collect(),
                ))
            }
        };

        let calls = message
            .tool_calls()
            .iter()
            .map(|call| Call::of(call, request));
        Ok(Self {
            role,
            content,
            tool_calls: calls.collect::<Result<_, _>>()?,
            tool_call_id: message.tool_call_id(),
        })
    }
}

impl<'a> Part<'a> {
    fn of(block: &'a Block) -> Self {
        let inline = |media_type: &str, data: &str| format!("data:{media_type};base64,{data}");
        match block {
            Block::Image { media_type, data } => Self::ImageUrl {
                image_url: Image {
                    url: inline(media_type, data).into(),
                },
            },
            Block::ImageUrl { url } => Self::ImageUrl {
                image_url: Image {
                    url: Cow::Borrowed(url),
                },
            },
            Block::File {
                name,
                media_type,
                data,
            } => Self::File {
                file: File {
                    filename: name,
                    file_data: inline(media_type, data),
                },
            },
        }
    }
}

impl<'a> Call<'a> {
    fn of(call: &'a ToolCall, request: &ChatRequest) -> Result<Self, LlmError> {
        let function = Function {
            name: name(call, request),
            arguments: Arguments::of(call).text()?,
        };
        Ok(Self {
            id: call.id(),
            r#type: "function",
            function,
        })
    }
}
