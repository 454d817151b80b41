//! What results contain.

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A picture of one pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A sound without samples.
pub(crate) const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Reads a value of the protocol as it is on the wire.
pub(crate) fn wire<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Marks a result as one that doesn't ask for input.
pub(crate) fn complete(mut result: Value) -> Value {
    if let Value::Object(fields) = &mut result {
        fields.insert("resultType".to_owned(), json!("complete"));
    }
    result
}

/// Returns the result of a call that failed.
pub(crate) fn failed(text: &str) -> Result<CallToolResult, ErrorData> {
    wire(complete(
        json!({"content": [text_block(text)], "isError": true}),
    ))
}

/// Returns a result with these blocks of content.
pub(crate) fn result(content: Value) -> Result<CallToolResponse, ErrorData> {
    let result: CallToolResult = wire(complete(json!({"content": content})))?;
    Ok(result.into())
}

pub(crate) fn text_result(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
    result(json!([text_block(text)]))
}

pub(crate) fn text_block(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

pub(crate) fn image_block() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

pub(crate) fn audio_block() -> Value {
    json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})
}

pub(crate) fn resource_block(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}})
}
