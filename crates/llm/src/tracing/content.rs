//! The content of messages in the format of the [OpenTelemetry
//! conventions](https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/).

use serde_json::{Value, json};

use crate::{Block, ChatResponse, Message, Messages, Role, ToolCall, ToolDefinition};

pub(super) fn of_message(message: &Message) -> Value {
    let mut parts: Vec<Value> = message.blocks().iter().map(of_block).collect();
    match message.tool_call_id() {
        Some(id) => parts
            .push(json!({ "type": "tool_call_response", "id": id, "response": message.text() })),
        None => parts.extend(text("text", message.text())),
    }

    parts.extend(message.tool_calls().iter().map(of_call));
    json!({ "role": message.role().as_str(), "parts": parts })
}

/// Returns the texts of the system messages at the beginning of a conversation.
pub(super) fn of_instructions(messages: &Messages) -> Vec<Value> {
    let system = messages
        .iter()
        .take_while(|message| message.role() == Role::System);
    system
        .filter_map(|message| text("text", message.text()))
        .collect()
}

pub(super) fn of_response(response: &ChatResponse, finish_reason: &str) -> Value {
    let reasoning = response
        .reasoning()
        .and_then(|said| text("reasoning", said));
    let mut parts: Vec<Value> = reasoning
        .into_iter()
        .chain(text("text", response.text()))
        .collect();
    parts.extend(response.tool_calls().iter().map(of_call));

    json!({ "role": "assistant", "parts": parts, "finish_reason": finish_reason })
}

pub(super) fn of_tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "name": tool.name(),
        "description": tool.description(),
        "parameters": json_or_text(tool.input_schema()),
    })
}

fn text(kind: &str, content: &str) -> Option<Value> {
    (!content.is_empty()).then(|| json!({ "type": kind, "content": content }))
}

fn of_call(call: &ToolCall) -> Value {
    let arguments = json_or_text(call.arguments());
    json!({ "type": "tool_call", "id": call.id(), "name": call.name(), "arguments": arguments })
}

/// Omits the data, which may be megabytes.
fn of_block(block: &Block) -> Value {
    match block {
        Block::Image { media_type, data } => {
            json!({ "type": "blob", "modality": "image", "mime_type": media_type, "characters": data.len() })
        }
        Block::ImageUrl { url } => json!({ "type": "uri", "modality": "image", "uri": url }),
        Block::File {
            name,
            media_type,
            data,
        } => {
            json!({ "type": "blob", "mime_type": media_type, "name": name, "characters": data.len() })
        }
    }
}

/// The model's arguments may be invalid JSON.
fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
