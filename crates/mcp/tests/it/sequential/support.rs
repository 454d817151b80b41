//! Calls of the tool.

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::support::{Client, call, text};

/// Records a thought, and returns the result.
pub(super) async fn record(client: &Client, arguments: Value) -> CallToolResult {
    call(client, "sequentialthinking", arguments).await
}

/// Records a thought, and returns the answer.
pub(super) async fn answer(client: &Client, arguments: Value) -> Value {
    let result = record(client, arguments).await;
    assert_eq!(result.is_error, None, "{result:?}");
    let structured = result.structured_content.clone().expect("an answer");

    let in_text: Value = serde_json::from_str(text(&result)).expect("JSON");
    assert_eq!(in_text, structured);
    structured
}

/// Returns the message of a call that is refused.
pub(super) async fn refusal(client: &Client, arguments: Value) -> String {
    let result = record(client, arguments).await;
    assert_eq!(result.is_error, Some(true), "{result:?}");
    text(&result).to_owned()
}

/// A thought with other arguments than the usual ones.
pub(super) fn thought(others: Value) -> Value {
    let mut arguments = json!({
        "thought": "a",
        "nextThoughtNeeded": true,
        "thoughtNumber": 1,
        "totalThoughts": 3,
    });
    let (Some(all), Value::Object(others)) = (arguments.as_object_mut(), others) else {
        panic!("the arguments are an object");
    };
    all.extend(others);
    arguments
}
