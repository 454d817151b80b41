//! The clients against imitations of the hosted and local servers that they are for.
#![cfg(feature = "http")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

#[path = "../../servers/mod.rs"]
mod imitated;

mod claude;
mod round_trips;
mod settings;

use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Message, ToolDefinition};
use serde_json::json;

const MODEL: &str = "model-1";

/// Two tools: servers can guarantee the arguments of the first, but not of the second.
fn tools() -> Vec<ToolDefinition> {
    let city = json!({
        "type": "object", "properties": {"city": {"type": "string"}},
        "required": ["city"], "additionalProperties": false,
    });
    let note = json!({
        "type": "object", "properties": {"text": {"type": "string", "maxLength": 80}},
    });

    vec![
        ToolDefinition::new("weather", "The weather in a city.", city.to_string()),
        ToolDefinition::new("note", "Keeps a note.", note.to_string()),
    ]
}

/// A question with instructions and tools.
fn question() -> ChatRequest {
    let messages = [Message::system("You plan."), Message::user("Umbrella?")];
    ChatRequest::new(messages).with_tools(tools())
}

async fn ask(
    client: &dyn LlmClient,
    request: &ChatRequest,
    is_streamed: bool,
) -> Result<ChatResponse, LlmError> {
    let reply = match is_streamed {
        true => client.stream(request.clone()).await?.collect().await?,
        false => client.complete(request.clone()).await?,
    };

    Ok(reply.separate_thinking())
}

/// Asks and adds the reply and the results of its calls to the conversation.
async fn advance(
    client: &dyn LlmClient,
    request: &mut ChatRequest,
    is_streamed: bool,
) -> ChatResponse {
    let reply = ask(client, request, is_streamed).await;
    let reply = reply.unwrap_or_else(|error| panic!("{error}: {request:?}"));
    request.push(reply.message());
    for call in reply.tool_calls() {
        request.push(Message::tool_result(
            call,
            format!("Rain, says {}.", call.id()),
        ));
    }

    reply
}
