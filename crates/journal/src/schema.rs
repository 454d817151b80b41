//! Checks answers against the schemas of waits.

use cogwork_flow::engine::Json;
use cogwork_text::{Name, check_by_schema};
use serde_json::Value;

/// Checks the answer to an event against the schemas of the steps that wait for it.
///
/// # Errors
///
/// Returns what is wrong if none of them can use the answer.
pub(crate) fn check_answer(
    event: &str,
    schemas: impl IntoIterator<Item = Option<Json>>,
    answer: &Json,
) -> Result<(), String> {
    // One that is nested too deeply for this can still be one that the flow reads.
    let Ok(answer) = answer.read::<Value>() else {
        return Ok(());
    };

    let mut refusal = None;
    for schema in schemas {
        // A schema that cannot be read is that of a record that was edited.
        let Some(schema) = schema.and_then(|schema| schema.read::<Value>().ok()) else {
            return Ok(());
        };
        match check_by_schema(&schema, &answer) {
            // One wait that can use the answer is enough.
            Ok(()) => return Ok(()),
            Err(problem) => refusal = refusal.or(Some(problem)),
        }
    }

    // Nothing waits for the event yet, so its schema isn't known.
    let Some(problem) = refusal else {
        return Ok(());
    };
    let event = Name(event);
    Err(format!(
        "the answer to `{event}` doesn't match the schema of its wait: {problem}"
    ))
}
