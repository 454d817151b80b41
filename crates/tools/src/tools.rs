use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cogwork_llm::{ToolCall, ToolDefinition};
use cogwork_text::Name;
use futures_util::FutureExt;
use serde_json::{Map, Value};

use crate::{Tool, ToolError};

/// The tools there are, by name, and the bounds of their calls. Cloning shares the tools.
///
/// What a model asks for is its own words: an unknown tool, arguments that are no JSON, a tool that fails,
/// panics or takes too long are all a [`ToolError`] whose text the model can read. What a tool gives back,
/// and what it says of a failure, is cut past the limit, and says so.
///
/// See the [front page](crate) for an example.
#[derive(Clone)]
pub struct Tools {
    by_name: BTreeMap<String, Arc<dyn Tool>>,
    timeout: Duration,
    max_bytes: usize,
}

/// Tools of one registry; a request with more is refused by servers.
const MAX_TOOLS: usize = 128;

impl Default for Tools {
    fn default() -> Self {
        Self {
            by_name: BTreeMap::new(),
            timeout: Duration::from_secs(30),
            max_bytes: 16 * 1024,
        }
    }
}

impl Tools {
    /// No tools yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// When there is one of this name, the name is not of 1 to 64 letters, digits, `_` and `-` (as servers
    /// want it), its schema is no JSON object, or there are 128 tools.
    pub fn with(mut self, tool: impl Tool + 'static) -> Result<Self, ToolError> {
        self.add(tool)?;
        Ok(self)
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// As of [`with`](Self::with).
    pub fn add(&mut self, tool: impl Tool + 'static) -> Result<(), ToolError> {
        let definition = tool.definition();
        let name = definition.name();
        let wrong = |message: String| Err(ToolError::Registry(message));
        let is_part =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');

        if name.is_empty() || name.len() > 64 || !name.chars().all(is_part) {
            return wrong(format!(
                "`{}` is no name of a tool; expected 1 to 64 letters, digits, `_` and `-`",
                Name(name)
            ));
        }

        if self.by_name.contains_key(name) {
            return wrong(format!("there is a tool `{name}` already"));
        }

        if let Err(error) = serde_json::from_str::<Map<String, Value>>(definition.input_schema()) {
            return wrong(format!(
                "the input schema of the tool `{name}` is no JSON object: {error}"
            ));
        }

        if self.by_name.len() >= MAX_TOOLS {
            return wrong(format!(
                "no room for the tool `{name}`; expected at most {MAX_TOOLS} tools"
            ));
        }

        self.by_name.insert(name.to_owned(), Arc::new(tool));
        Ok(())
    }

    /// These of them alone, with the same bounds: what one of several agents may call.
    ///
    /// # Errors
    ///
    /// The first name that none of them has.
    pub fn only<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, ToolError> {
        let found = names.into_iter().map(|name| {
            let tool = self.find(name.as_ref())?;
            Ok((name.as_ref().to_owned(), Arc::clone(tool)))
        });
        Ok(Self {
            by_name: found.collect::<Result<_, ToolError>>()?,
            ..self.clone()
        })
    }

    /// How long a call may take. Default: 30 seconds.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// How many bytes of what a tool gives back, or says of a failure, are handed on. Default: 16 KiB.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// What the model is told of them, by name.
    pub fn definitions(&self) -> impl Iterator<Item = ToolDefinition> {
        self.by_name.values().map(|tool| tool.definition())
    }

    /// Makes the call that a model asked for. Empty arguments are those of a tool that takes none.
    ///
    /// # Errors
    ///
    /// When the tool is unknown, the arguments are no JSON object, or the call fails.
    pub async fn call(&self, call: &ToolCall) -> Result<String, ToolError> {
        let arguments = match call.arguments().trim() {
            "" => Value::Object(Map::new()),
            text => serde_json::from_str::<Map<_, _>>(text)
                .map(Value::Object)
                .map_err(|error| {
                    // An unknown tool is the greater mistake.
                    let problem = format!("{error}; expected a JSON object");
                    self.find(call.name()).err().unwrap_or(ToolError::Input {
                        tool: call.name().to_owned(),
                        problem,
                    })
                })?,
        };
        self.call_with(call.name(), arguments).await
    }

    /// Makes a call with input that is read already.
    ///
    /// # Errors
    ///
    /// As of [`call`](Self::call).
    pub async fn call_with(&self, name: &str, input: Value) -> Result<String, ToolError> {
        let tool = self.find(name)?;

        // A panic is the tool's own failure: a registry shares nothing with it that could be half changed.
        let call = AssertUnwindSafe(async { tool.call(input).await }).catch_unwind();
        let called = tokio::time::timeout(self.timeout, call).await;
        let Ok(outcome) = called else {
            return Err(ToolError::Timeout {
                tool: name.to_owned(),
                limit: self.timeout,
            });
        };

        let outcome = outcome.unwrap_or_else(|_| Err(ToolError::failed("it panicked")));
        outcome
            .map(|text| cut(text, self.max_bytes))
            .map_err(|error| error.of(name, |text| cut(text, self.max_bytes)))
    }

    fn find(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        self.by_name.get(name).ok_or_else(|| ToolError::Unknown {
            // One character more than is shown, so that the cut is marked.
            name: name.chars().take(Name::MAX_CHARS + 1).collect(),
            known: self.by_name.keys().cloned().collect(),
        })
    }
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let whole = text.len();
        let end = (0..=most)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        text.truncate(end);
        text.push_str(&format!(" [cut: {end} of {whole} bytes]"));
    }

    text
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}
