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
    /// The names of the arguments, and of those that every call needs.
    names: Vec<String>,
    required: Vec<String>,
    refuses_others: bool,
}

impl<A: DeserializeOwned + JsonSchema> Arguments<A> {
    /// Creates a reader for arguments with this schema.
    pub(crate) fn new(schema: &JsonObject, max_bytes: usize) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        let names = properties.into_iter().flat_map(|found| found.keys());
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        Self {
            reader: AnswerReader::new(),
            // The reader of answers refuses longer texts anyway.
            max_bytes: max_bytes.min(MOST_BYTES),
            names: names.cloned().collect(),
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

        let is_known = |given: &str| self.names.iter().any(|name| folded(name) == folded(given));
        // A misspelt optional argument would otherwise be ignored, and the model would never learn
        // of it.
        let mut others = arguments.keys().filter(|given| !is_known(given));
        if let Some(unknown) = others.next().filter(|_| self.refuses_others) {
            return Err(Failure::new(format_args!(
                "`{}` isn't an argument of this tool; expected {}",
                Name(unknown),
                NameList::or(&self.names)
            )));
        }
        // The reader would name only the first one that is missing.
        if !self.required.is_empty() && !arguments.keys().any(|given| is_known(given)) {
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

/// Returns a name without case and separators.
fn folded(name: &str) -> String {
    let name = name.replace(['_', '-'], "");
    name.to_lowercase()
}

/// Returns the failure of a call without an argument that it needs.
pub(crate) fn missing(name: &str, expected: impl std::fmt::Display) -> Failure {
    Failure::new(format_args!("`{name}` is missing; expected {expected}"))
}
