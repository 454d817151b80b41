//! Reading the arguments of a call, with errors that name the argument.

use cogwork_text::{Name, NameList};
use cogwork_tools::schemars::JsonSchema;
use cogwork_typed::AnswerReader;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;

/// The maximum length of a text that is read as an answer, in bytes.
const MOST_BYTES: usize = 256 * 1024;

/// Reads the arguments of a call as models and hosts write them: numbers and truth values may be
/// texts, names may be in snake case, and what is optional may be null.
pub(crate) struct Arguments<A> {
    reader: AnswerReader<A>,
    max_bytes: usize,
    schema: JsonObject,
    /// The names of the arguments that every call needs.
    required: Vec<String>,
    refuses_others: bool,
}

impl<A: DeserializeOwned + JsonSchema> Arguments<A> {
    /// Creates a reader for arguments with this schema.
    pub(crate) fn new(schema: &JsonObject, max_bytes: usize) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        Self {
            reader: AnswerReader::new(),
            // The reader of answers refuses longer texts anyway.
            max_bytes: max_bytes.min(MOST_BYTES),
            schema: schema.clone(),
            required: required.map(str::to_owned).collect(),
            refuses_others: true,
        }
    }

    /// Ignores arguments that there aren't.
    pub(crate) fn ignoring_others(mut self) -> Self {
        self.refuses_others = false;
        self
    }

    pub(crate) fn read(&self, arguments: &JsonObject) -> Result<A, Failure> {
        let text = serde_json::to_string(arguments).map_err(Failure::new)?;
        let (bytes, most) = (text.len(), self.max_bytes);
        if bytes > most {
            return Err(Failure::new(format_args!(
                "the arguments have {bytes} bytes; expected at most {most}"
            )));
        }

        if self.refuses_others {
            check_names(&self.schema, arguments, "an argument of this tool")?;
        }
        // The reader would name only the first one that is missing.
        if !self.required.is_empty() && arguments.is_empty() {
            let required = NameList::and(&self.required);
            return Err(Failure::new(format_args!(
                "there are no arguments; expected {required}"
            )));
        }

        let read = self.reader.read(&text).map_err(|problem| {
            // Models write places with dots, as in code.
            let place = problem.pointer().trim_start_matches('/').replace('/', ".");
            let message = problem.message();
            Failure::new(match place.as_str() {
                "" => message.to_owned(),
                place => format!("`{}`: {message}", Name(place)),
            })
        })?;
        Ok(read.value)
    }
}

/// Checks that objects have only the keys of their schemas. A misspelt optional one would otherwise be
/// ignored, and the model would never learn of it.
fn check_names(schema: &JsonObject, given: &JsonObject, what: &str) -> Result<(), Failure> {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Ok(());
    };

    for (key, value) in given {
        let mut known = properties.iter();
        let Some((name, schema)) = known.find(|(name, _)| folded(name) == folded(key)) else {
            return Err(Failure::new(format_args!(
                "`{}` isn't {what}; expected {}",
                Name(key),
                NameList::or(properties.keys())
            )));
        };
        if let (Value::Object(schema), Value::Object(value)) = (schema, value) {
            check_names(schema, value, &format!("a key of `{name}`"))?;
        }
    }
    Ok(())
}

/// Returns a name without case and separators.
fn folded(name: &str) -> String {
    let name = name.replace(['_', '-'], "");
    name.to_lowercase()
}

/// Returns the failure of a call without an argument that it needs.
pub(crate) fn missing(name: &str, expected: impl std::fmt::Display) -> Failure {
    Failure::new(format_args!("`{name}` is missing; expected {expected}"))
}
