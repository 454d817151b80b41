use serde::Serialize;

use crate::http::invalid;
use crate::http::tools::Arguments;
use crate::{Block, ChatRequest, LlmError, Message, Role};

#[derive(Serialize)]
pub(super) struct Turn<'a> {
    role: Role,
    content: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
}

/// Has no id: the API matches results by tool name and order.
#[derive(Serialize)]
struct Call<'a> {
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: Arguments<'a>,
}

impl<'a> Turn<'a> {
    pub(super) fn all_of(request: &'a ChatRequest) -> Result<Vec<Self>, LlmError> {
        let turns = request.messages().iter().enumerate();
        turns
            .map(|(place, message)| Self::of(place, message))
            .collect()
    }

    fn of(place: usize, message: &'a Message) -> Result<Self, LlmError> {
        let wrong = |what: &str| invalid(format!("messages[{place}] has {what}"));
        if message.role() == Role::Tool && !message.blocks().is_empty() {
            return Err(wrong(
                "images or files in the role tool; expected them in the role user",
            ));
        }

        let images = message.blocks().iter().map(|block| match block {
            Block::Image { data, .. } => Ok(&**data),
            Block::ImageUrl { .. } => Err(wrong("an image URL; expected image data")),
            Block::File { .. } => Err(wrong("a file; expected images or text")),
        });

        let images = images.collect::<Result<_, _>>()?;
        let calls = message.tool_calls().iter().map(|call| Call {
            function: Function {
                name: call.name(),
                arguments: Arguments::of(call),
            },
        });

        Ok(Self {
            role: message.role(),
            content: message.text(),
            images,
            tool_calls: calls.collect(),
            tool_name: message.tool_name(),
        })
    }
}
