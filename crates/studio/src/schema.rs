//! Checks answers against the schemas of waits.

use std::error::Error;

use boon::{Compiler, Schemas, UrlLoader};
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

/// Checks an answer against a schema.
///
/// # Errors
///
/// Returns where the answer differs and what would be accepted. A schema that cannot be used accepts
/// any answer, because whether the answer is usable is decided by the flow.
pub(crate) fn check(schema: &Value, answer: &Value) -> Result<(), String> {
    const PLACE: &str = "answer.json";

    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
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
        let problems: Vec<_> = text.lines().skip(1).map(str::trim).collect();
        problems.join("\n").chars().take(MAX_PROBLEM).collect()
    })
}
