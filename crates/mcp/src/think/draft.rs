//! Thoughts in the arguments of a call.

use cogwork_strategies::{ThoughtDraft, ThoughtId};
use serde_json::{Value, json};

use crate::ServerLimits;
use crate::arguments::{ArgumentError, Arguments};

/// The maximum number of bytes of a name.
pub(crate) const NAME: usize = 256;

/// Reads a thought.
pub(crate) fn draft(
    arguments: &mut Arguments,
    limits: &ServerLimits,
) -> Result<ThoughtDraft, ArgumentError> {
    arguments.alias("revisesThought", "revises");

    let bytes = limits.thought_bytes;
    let mut draft = ThoughtDraft::here(arguments.required_text("thought", bytes)?);
    draft.stage = arguments.text("stage", NAME)?;

    let parameters = arguments.object("parameters", bytes)?;
    draft.parameters = parameters.unwrap_or_default().into_iter().collect();

    draft.revises = thought(arguments, "revises")?;
    draft.total_thoughts = arguments.integer("totalThoughts", 1..=u32::MAX)?;

    let more = arguments.flag("needsMoreThoughts")?;
    draft.needs_more_thoughts = more.unwrap_or(false);

    let next = arguments.flag("nextThoughtNeeded")?;
    draft.next_thought_needed = next.unwrap_or(true);
    Ok(draft)
}

/// Reads the number of a thought.
pub(crate) fn thought(
    arguments: &mut Arguments,
    name: &'static str,
) -> Result<Option<ThoughtId>, ArgumentError> {
    let number = arguments.integer(name, 1..=u32::MAX)?;
    Ok(number.map(ThoughtId::new))
}

/// Returns the schema of the properties that [`draft`] reads.
pub(crate) fn properties() -> Vec<(&'static str, Value)> {
    vec![
        (
            "thought",
            json!({"type": "string", "description": "The text of the thought."}),
        ),
        (
            "stage",
            json!({
                "type": "string",
                "description": "The stage of the thought: one of the next stages that the last \
                    answer has listed. Without it, the thought stays in the stage of its branch.",
            }),
        ),
        (
            "parameters",
            json!({
                "type": "object",
                "description": "The parameters of the stage by name, as the last answer has \
                    listed them.",
            }),
        ),
        (
            "revises",
            json!({
                "type": "integer",
                "minimum": 1,
                "description": "The number of the earlier thought that this one replaces.",
            }),
        ),
        (
            "totalThoughts",
            json!({
                "type": "integer",
                "minimum": 1,
                "description": "How many thoughts the branch is expected to have.",
            }),
        ),
        (
            "needsMoreThoughts",
            json!({
                "type": "boolean",
                "description": "Whether more thoughts are needed than were expected.",
            }),
        ),
        (
            "nextThoughtNeeded",
            json!({
                "type": "boolean",
                "description": "False ends the branch before a final stage, if the session \
                    allows that. A final stage always ends its branch.",
            }),
        ),
    ]
}
