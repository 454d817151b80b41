use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cogwork_llm::{ToolCall, ToolDefinition};
use cogwork_text::Name;
use futures_util::FutureExt;
use serde_json::{Map, Value};
use tracing::Instrument;

use crate::spans::{call_span, error_type};
use crate::{Tool, ToolError, check_name};

/// A registry of tools, with limits for their calls. Clones share the tools.
///
/// Every failure is returned as a [`ToolError`] that the model can read: an unknown tool, arguments
/// that aren't JSON, and a tool that fails, panics or takes too long. Outputs and messages beyond
/// the limit are truncated and marked as truncated.
///
/// See the [crate documentation](crate) for an example.
#[derive(Clone)]
pub struct Tools {
    by_name: BTreeMap<String, Arc<dyn Tool>>,
    timeout: Duration,
    max_bytes: usize,
    /// The tools whose calls a person has to approve.
    approval: BTreeSet<String>,
    hide: Option<Arc<Hide>>,
}

/// Replaces the secrets in a text.
type Hide = dyn Fn(&str) -> String + Send + Sync;

/// The maximum number of tools. Servers refuse requests with more than this.
const MAX_TOOLS: usize = 128;

impl Default for Tools {
    fn default() -> Self {
        Self {
            by_name: BTreeMap::new(),
            timeout: Duration::from_secs(30),
            max_bytes: 16 * 1024,
            approval: BTreeSet::new(),
            hide: None,
        }
    }
}

impl Tools {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// Returns an error if a tool of this name exists, if the name isn't 1 to 64 letters, digits,
    /// `_` and `-`, as servers require, if the schema isn't a JSON object, or if there are 128
    /// tools.
    pub fn with(mut self, tool: impl Tool + 'static) -> Result<Self, ToolError> {
        let definition = tool.definition();
        if let Some(refusal) = self.refusal(&definition) {
            return Err(ToolError::Registry(refusal));
        }

        let name = definition.name().to_owned();
        self.by_name.insert(name, Arc::new(tool));
        Ok(self)
    }

    /// Adds several tools, for example those of a server.
    ///
    /// # Errors
    ///
    /// Returns an error for the first tool that [`with`](Self::with) doesn't accept.
    pub fn with_all<T: Tool + 'static>(
        self,
        tools: impl IntoIterator<Item = T>,
    ) -> Result<Self, ToolError> {
        tools.into_iter().try_fold(self, Self::with)
    }

    fn refusal(&self, definition: &ToolDefinition) -> Option<String> {
        let name = definition.name();
        if let Err(expected) = check_name(name) {
            let name = Name(name);
            return Some(format!("`{name}` is not a valid tool name; {expected}"));
        }

        if self.by_name.contains_key(name) {
            return Some(format!(
                "there is already a tool `{name}`; choose another name"
            ));
        }

        // Servers refuse the whole request for one schema that isn't an object.
        if let Err(error) = serde_json::from_str::<Map<String, Value>>(definition.input_schema()) {
            return Some(format!(
                "the input schema of the tool `{name}` is not a JSON object: {error}"
            ));
        }

        (self.by_name.len() >= MAX_TOOLS)
            .then(|| format!("no room for the tool `{name}`; expected at most {MAX_TOOLS} tools"))
    }

    /// Returns a registry with only these tools and the same limits, for example for one of several
    /// agents.
    ///
    /// # Errors
    ///
    /// Returns an error for the first unknown name.
    pub fn only<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, ToolError> {
        let mut only = self.clone();
        only.by_name.clear();
        for name in names {
            let tool = self.find(name.as_ref())?;
            only.by_name.insert(name.as_ref().to_owned(), tool.clone());
        }

        // An approval that is required stays required.
        only.approval.retain(|name| only.by_name.contains_key(name));
        Ok(only)
    }

    /// Sets the timeout of a call. The default is 30 seconds.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Sets the maximum length of an output or message in bytes. The default is 16 KiB.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Adds tools whose calls need a person's approval. By default, none do.
    ///
    /// The run needs a journal. Before such a call, it [pauses][paused] once all other calls of the
    /// same reply are complete. The event of the pause is unique to the call, and the reason
    /// contains the tool and its arguments, of which at most 4,000 characters. The answer is a
    /// [`ToolApproval`](crate::ToolApproval), or simply `true` or `false`. If the call is refused,
    /// the model receives the error `refused by a person` with the person's reason, and continues.
    ///
    /// Calls whose arguments the tool [doesn't accept](Tool::check) fail without a question.
    ///
    /// ```
    /// use cogwork_tools::{Tools, ToolError, function};
    ///
    /// let send = function("send", "Sends a letter.", |_: serde_json::Value| async { Ok("sent") });
    /// let tools = Tools::new().with(send)?;
    ///
    /// let error = tools.with_approval(["sned"]).unwrap_err();
    /// assert_eq!(error.to_string(), "approval is required for a tool that doesn't exist: there is no tool `sned`; expected `send`");
    /// # Ok::<(), ToolError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error for the first name that isn't a tool's. Add the tools before.
    ///
    /// [paused]: https://docs.rs/cogwork-flow/latest/cogwork_flow/struct.RunError.html#method.paused
    pub fn with_approval<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, ToolError> {
        // A flow file must not take away what the program requires.
        self.approval.extend(names.into_iter().map(Into::into));

        // With a misspelt name, the calls of the tool that was meant would not wait.
        for name in &self.approval {
            self.find(name).map_err(|error| {
                let problem = "approval is required for a tool that doesn't exist";
                ToolError::Registry(format!("{problem}: {error}"))
            })?;
        }
        Ok(self)
    }

    /// Sets a function that replaces secrets in messages of errors and in questions for a person.
    /// By default, they are shown as they are.
    #[must_use]
    pub fn with_secrets(mut self, hide: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.hide = Some(Arc::new(hide));
        self
    }

    /// Returns whether calls of a tool need a person's [approval](Self::with_approval).
    pub fn need_approval(&self, name: &str) -> bool {
        self.approval.contains(name)
    }

    /// Returns a text without [secrets](Self::with_secrets).
    pub fn hide_secrets(&self, text: &str) -> String {
        match &self.hide {
            Some(hide) => hide(text),
            None => text.to_owned(),
        }
    }

    /// Returns whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns the names of the tools in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns the definitions for the model in alphabetical order.
    pub fn definitions(&self) -> impl Iterator<Item = ToolDefinition> {
        self.by_name.values().map(|tool| tool.definition())
    }

    /// Checks that the definitions of all tools are known.
    ///
    /// # Errors
    ///
    /// Returns the error of the first tool that is not [ready](Tool::ready).
    pub fn ready(&self) -> Result<(), ToolError> {
        self.by_name
            .iter()
            .try_for_each(|(name, tool)| tool.ready().map_err(|error| self.told(error, name)))
    }

    /// Checks the input of a call without making it.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool is unknown or doesn't [accept](Tool::check) the input.
    pub fn check(&self, name: &str, input: &Value) -> Result<(), ToolError> {
        let checked = self.find(name)?.check(input);
        checked.map_err(|error| self.told(error, name))
    }

    /// Makes a call that the model requested. Empty arguments are read as an empty object.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool is unknown, if the arguments aren't a JSON object, or if the
    /// call fails.
    pub async fn call(&self, call: &ToolCall) -> Result<String, ToolError> {
        let input = self.input_of(call)?;
        self.call_with(call.name(), Some(call.id()), input).await
    }

    /// Returns the input of a call as its tool would receive it. If the arguments contain a key
    /// twice, the last one counts.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool is unknown or the arguments aren't a JSON object.
    pub fn input_of(&self, call: &ToolCall) -> Result<Value, ToolError> {
        // Before the arguments, which don't matter if the tool doesn't exist.
        self.find(call.name())?;

        let input = match call.arguments().trim() {
            // Models write nothing for a tool without arguments.
            "" => Ok(Map::new()),
            text => serde_json::from_str(text),
        };
        input.map(Value::Object).map_err(|error| ToolError::Input {
            tool: call.name().to_owned(),
            problem: format!("the arguments are not a JSON object: {error}"),
        })
    }

    /// Calls a tool with parsed input, in a span of its own. `id` is that of the call, if it has one.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool is unknown or the call fails.
    pub async fn call_with(
        &self,
        name: &str,
        id: Option<&str>,
        input: Value,
    ) -> Result<String, ToolError> {
        // Before the span, whose names should be few: a model may invent any.
        let tool = self.find(name)?;
        let span = call_span(name, id);
        let made = self.make(name, tool.as_ref(), input);
        let made = made.instrument(span.clone()).await;

        if let Err(error) = &made {
            span.record("otel.status_code", "ERROR");
            span.record("error.type", error_type(error));
        }
        made
    }

    async fn make(&self, name: &str, tool: &dyn Tool, input: Value) -> Result<String, ToolError> {
        // The registry and the tool share no state that a panic could leave inconsistent.
        let call = AssertUnwindSafe(async { tool.call(input).await }).catch_unwind();
        // The limit holds also for tools that have none of their own.
        let outcome = match tokio::time::timeout(self.timeout, call).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(ToolError::failed("it panicked")),
            Err(_) => Err(ToolError::Timeout {
                tool: name.to_owned(),
                limit: self.timeout,
            }),
        };

        outcome
            .map(|text| cut(text, self.max_bytes))
            .map_err(|error| self.told(error, name))
    }

    /// Adds the name of the tool, and truncates the message.
    fn told(&self, error: ToolError, name: &str) -> ToolError {
        error.of(name, |text| cut(self.hide_secrets(&text), self.max_bytes))
    }

    fn find(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        self.by_name.get(name).ok_or_else(|| ToolError::Unknown {
            // One more character is kept than is shown, so that the message is visibly truncated.
            name: name.chars().take(Name::MAX_CHARS + 1).collect(),
            known: self.by_name.keys().cloned().collect(),
        })
    }
}

/// Truncates a text, and marks it as truncated.
pub(crate) fn cut(mut text: String, most: usize) -> String {
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
