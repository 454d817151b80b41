//! Checks answers against the schemas of waits.

use std::error::Error;

use boon::{Compiler, Schemas, UrlLoader};
use cogwork_flow::engine::Json;
use cogwork_text::Name;
use serde_json::Value;

/// The maximum length of a problem, in characters.
const MAX_PROBLEM: usize = 2_000;

/// Refuses to load other documents, which a schema may refer to.
struct NothingElse;

impl UrlLoader for NothingElse {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("the schema refers to {url}; expected only references inside it").into())
    }
}

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
        match check(&schema, &answer) {
            Ok(()) => return Ok(()),
            Err(problem) => refusal = refusal.or(Some(problem)),
        }
    }

    let Some(problem) = refusal else {
        return Ok(());
    };
    let event = Name(event);
    Err(format!(
        "the answer to `{event}` doesn't match the schema of its wait: {problem}"
    ))
}

/// Checks an answer against a schema.
///
/// # Errors
///
/// Returns where the answer differs and what would be accepted. A schema that cannot be used accepts
/// any answer, because whether the answer is usable is decided by the flow.
fn check(schema: &Value, answer: &Value) -> Result<(), String> {
    const PLACE: &str = "answer.json";

    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    // Schemas may come from a file of somebody else, and must not make this program open files or
    // addresses.
    compiler.use_loader(Box::new(NothingElse));
    if compiler.add_resource(PLACE, schema.clone()).is_err() {
        return Ok(());
    }
    let Ok(index) = compiler.compile(PLACE, &mut schemas) else {
        return Ok(());
    };

    let checked = schemas.validate(answer, index);
    checked.map_err(|error| {
        // The first line names the schema, the others the problems.
        let text = error.to_string();
        let problems = text.lines().skip(1);
        let problems: Vec<_> = problems
            .map(|line| line.trim_start_matches([' ', '-']))
            .collect();
        problems.join("; ").chars().take(MAX_PROBLEM).collect()
    })
}
