//! Arguments that name a thought, a strategy or a branch.

use cogwork_strategies::{
    Branch, BranchId, Session, Strategies, Strategy, ThoughtDraft, ThoughtId,
};
use cogwork_text::{Name, NameList};
use serde_json::{Value, json};

use crate::ServerLimits;
use crate::arguments::{ArgumentError, Arguments};
use crate::tool::ToolFailure;

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

/// The maximum number of bytes of a purpose.
pub(crate) const PURPOSE: usize = 4_096;

/// Reads the name of a strategy.
pub(crate) fn strategy(
    arguments: &mut Arguments,
    strategies: &Strategies,
) -> Result<Option<Strategy>, ArgumentError> {
    let Some(name) = arguments.text("strategy", NAME)? else {
        return Ok(None);
    };

    let found = strategies.get(&name).cloned();
    found
        .map(Some)
        .map_err(|_| arguments.fault("strategy", known(strategies), &Value::String(name)))
}

/// Reads the name of a strategy, which must be there.
pub(crate) fn required_strategy(
    arguments: &mut Arguments,
    strategies: &Strategies,
) -> Result<Strategy, ArgumentError> {
    let found = strategy(arguments, strategies)?;
    found.ok_or_else(|| arguments.missing("strategy", known(strategies)))
}

/// Lists the names of all strategies.
fn known(strategies: &Strategies) -> String {
    let known = strategies.iter().flat_map(Strategy::names);
    let known: Vec<&str> = known.collect();
    NameList::or(&known).to_string()
}

/// Returns the branch with this name, or the current one.
pub(crate) fn branch(session: &Session, name: Option<&str>) -> Result<BranchId, ToolFailure> {
    let Some(name) = name else {
        return Ok(session.current());
    };
    let found = session.branch_named(name).map(Branch::id);
    found.ok_or_else(|| unknown(session, name))
}

fn unknown(session: &Session, name: &str) -> ToolFailure {
    let names: Vec<&str> = session.branches().iter().map(Branch::name).collect();
    let expected = NameList::or(&names);
    let message = format!("there is no branch `{}`; expected {expected}", Name(name));
    let data = json!({"error": {
        "kind": "no_such_branch",
        "message": message,
        "branch": Name(name).to_string(),
    }});
    ToolFailure::Described { message, data }
}

/// Returns the name for a new branch without one.
pub(crate) fn new_name(session: &Session) -> String {
    let count = session.branches().len();
    let mut numbers = count..;
    let name = numbers.find_map(|number| {
        let name = format!("branch-{number}");
        session.branch_named(&name).is_none().then_some(name)
    });
    name.unwrap_or_default()
}
