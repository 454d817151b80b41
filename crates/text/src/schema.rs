use std::error::Error;

use boon::{CompileError, Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
use serde_json::Value;

/// The maximum length of a problem, in characters.
const MAX_PROBLEM: usize = 2_000;

/// The maximum number of references in a schema. Where they branch, they are followed 2^n times.
const MAX_REFERENCES: usize = 32;

/// Refuses to load other documents, which a schema may refer to.
struct NothingElse;

impl UrlLoader for NothingElse {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("the schema refers to {url}; expected only references inside it").into())
    }
}

/// Checks a value against a JSON Schema from somebody else, such as a server.
///
/// ```
/// use cogwork_text::check_by_schema;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "required": ["path"]});
/// assert!(check_by_schema(&schema, &json!({"path": "/"})).is_ok());
/// assert_eq!(check_by_schema(&schema, &json!({})).unwrap_err(), "at '': missing properties 'path'");
/// ```
///
/// # Errors
///
/// Returns where the value differs and what would be accepted. A schema that [cannot be
/// used](check_schema) accepts any value, because whoever takes the value decides whether it is usable.
pub fn check_by_schema(schema: &Value, value: &Value) -> Result<(), String> {
    let Ok((schemas, index)) = compiled(schema) else {
        return Ok(());
    };
    let checked = schemas.validate(value, index);
    checked.map_err(|error| problems(&error))
}

/// Checks that a value is a JSON Schema that can be used.
///
/// ```
/// use cogwork_text::check_schema;
/// use serde_json::json;
///
/// let problem = check_schema(&json!({"properties": {"x": {"type": "int"}}})).unwrap_err();
/// assert!(problem.starts_with("at '/properties/x/type'"));
/// ```
///
/// # Errors
///
/// Returns what is wrong. A schema has at most 32 references, none of them to other documents.
pub fn check_schema(schema: &Value) -> Result<(), String> {
    compiled(schema).map(drop)
}

fn compiled(schema: &Value) -> Result<(Schemas, SchemaIndex), String> {
    const PLACE: &str = "urn:schema";

    let text = schema.to_string().to_lowercase();
    let references = text.matches("ref\":").count();
    if references > MAX_REFERENCES {
        return Err(format!(
            "the schema has {references} references; expected at most {MAX_REFERENCES}"
        ));
    }

    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    // A schema from somebody else must not make this program open files or addresses.
    compiler.use_loader(Box::new(NothingElse));
    compiler
        .add_resource(PLACE, schema.clone())
        .map_err(|error| error.to_string())?;
    match compiler.compile(PLACE, &mut schemas) {
        Ok(index) => Ok((schemas, index)),
        Err(CompileError::ValidationError { src, .. }) => Err(problems(&src)),
        // What was refused says where itself.
        Err(CompileError::LoadUrlError { src, .. }) => Err(src.to_string()),
        Err(error) => Err(format!("{error:#}")),
    }
}

/// Returns the problems in an error on one line.
fn problems(error: &ValidationError<'_, '_>) -> String {
    // The first line names the schema.
    let text = error.to_string();
    let problems = text.lines().skip(1);
    let problems: Vec<_> = problems
        .map(|line| line.trim().trim_start_matches("- "))
        .collect();
    problems.join("; ").chars().take(MAX_PROBLEM).collect()
}
