use std::error::Error;

use boon::{Compiler, SchemaIndex, Schemas, UrlLoader};
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
/// Returns where the value differs and what would be accepted. A schema that cannot be used, or has
/// more than 32 references, accepts any value, because whoever takes the value decides whether it is usable.
pub fn check_by_schema(schema: &Value, value: &Value) -> Result<(), String> {
    let mut schemas = Schemas::new();
    let Ok(index) = compile(schema, &mut schemas) else {
        return Ok(());
    };

    let checked = schemas.validate(value, index);
    checked.map_err(|error| {
        // The first line names the schema, the others the problems.
        let text = error.to_string();
        let problems = text.lines().skip(1);
        let problems: Vec<_> = problems
            .map(|line| line.trim().trim_start_matches("- "))
            .collect();
        problems.join("; ").chars().take(MAX_PROBLEM).collect()
    })
}

/// Returns why [`check_by_schema`] cannot use a schema, if it cannot.
pub fn schema_problem(schema: &Value) -> Option<String> {
    compile(schema, &mut Schemas::new()).err()
}

fn compile(schema: &Value, schemas: &mut Schemas) -> Result<SchemaIndex, String> {
    const PLACE: &str = "urn:schema";

    let text = schema.to_string().to_lowercase();
    if text.matches("ref\":").count() > MAX_REFERENCES {
        return Err(format!(
            "the schema has too many references; expected at most {MAX_REFERENCES}"
        ));
    }

    let mut compiler = Compiler::new();
    // A schema from somebody else must not make this program open files or addresses.
    compiler.use_loader(Box::new(NothingElse));
    let invalid = |_| "not a valid JSON Schema; expected one of draft 2020-12".to_owned();
    compiler
        .add_resource(PLACE, schema.clone())
        .map_err(invalid)?;
    compiler.compile(PLACE, schemas).map_err(invalid)
}
