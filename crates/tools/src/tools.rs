use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cogwork_llm::{ToolCall, ToolDefinition};
use cogwork_text::Name;
use futures_util::FutureExt;
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::spans::CallSpan;
use crate::words::in_json_words;
use crate::{Tool, ToolError};

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
    /// Whether spans include the arguments and results of calls.
    traced_content: bool,
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
            traced_content: false,
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
        self.check(&definition).map_err(ToolError::Registry)?;

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

    fn check(&self, definition: &ToolDefinition) -> Result<(), String> {
        let name = definition.name();
        let is_part =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');

        if name.is_empty() || name.len() > 64 || !name.chars().all(is_part) {
            return Err(format!(
                "`{}` is not a valid tool name; expected 1 to 64 letters, digits, `_` and `-`",
                Name(name)
            ));
        }

        if self.by_name.contains_key(name) {
            return Err(format!(
                "there is already a tool `{name}`; choose another name"
            ));
        }

        if let Err(error) = serde_json::from_str::<Map<String, Value>>(definition.input_schema()) {
            return Err(format!(
                "the input schema of the tool `{name}` is not a JSON object: {error}"
            ));
        }

        if self.by_name.len() >= MAX_TOOLS {
            return Err(format!(
                "no room for the tool `{name}`; expected at most {MAX_TOOLS} tools"
            ));
        }

        Ok(())
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
        let found = names.into_iter().map(|name| {
            let tool = self.find(name.as_ref())?;
            Ok((name.as_ref().to_owned(), Arc::clone(tool)))
        });
        let by_name = found.collect::<Result<BTreeMap<_, _>, ToolError>>()?;

        let mut only = self.clone();
        only.approval.retain(|name| by_name.contains_key(name));
        only.by_name = by_name;
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

    /// Sets whether the `tracing` spans of calls include their arguments and results, which may be
    /// confidential. The default is `false`.
    #[must_use]
    pub fn with_traced_content(mut self, traced: bool) -> Self {
        self.traced_content = traced;
        self
    }

    /// Sets the tools whose calls need a person's approval. The default is none.
    ///
    /// The run needs a journal. Before such a call, it [pauses][paused] once all other calls of the
    /// same reply are complete. The event of the pause is unique to the call, and the reason
    /// contains the tool and its arguments, of which at most 4,000 characters. The answer is a
    /// [`ToolApproval`](crate::ToolApproval), or simply `true` or `false`. If the call is refused,
    /// the model receives the error `refused by a person` with the person's reason, and continues.
    ///
    /// Calls with arguments that aren't a JSON object fail without a question.
    ///
    /// [paused]: https://docs.rs/cogwork-flow/latest/cogwork_flow/struct.RunError.html#method.paused
    #[must_use]
    pub fn with_approval<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.approval = names.into_iter().map(Into::into).collect();
        self
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

    /// Checks that the definitions of all tools are known, and that the tools that need
    /// [approval](Self::with_approval) exist.
    ///
    /// # Errors
    ///
    /// Returns the error of the first tool that is not [ready](Tool::ready), or that doesn't exist.
    pub fn ready(&self) -> Result<(), ToolError> {
        // With a misspelt name, the calls of the tool that was meant would not wait.
        for name in &self.approval {
            self.find(name).map_err(|error| {
                let problem = "approval is required for a tool that doesn't exist";
                ToolError::Registry(format!("{problem}: {error}"))
            })?;
        }

        self.by_name
            .iter()
            .try_for_each(|(name, tool)| tool.ready().map_err(|error| self.told(error, name)))
    }

    /// Makes a call that the model requested. Empty arguments are read as an empty object.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool is unknown, if the arguments aren't a JSON object, or if the
    /// call fails.
    pub async fn call(&self, call: &ToolCall) -> Result<String, ToolError> {
        let span = CallSpan::open(self.known(call.name()), Some(call.id()));
        let made = async {
            let input = self.input_of(call)?;
            self.make(call.name(), Value::Object(input), &span).await
        };

        span.around(made).await
    }

    /// Returns the input of a call as its tool would receive it. If the arguments contain a key
    /// twice, the last one counts.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool is unknown or the arguments aren't a JSON object.
    pub fn input_of(&self, call: &ToolCall) -> Result<Map<String, Value>, ToolError> {
        self.find(call.name())?;

        match call.arguments().trim() {
            "" => Ok(Map::new()),
            text => serde_json::from_str(text).map_err(|error| ToolError::Input {
                tool: call.name().to_owned(),
                problem: match error.classify() {
                    Category::Data => in_json_words(&error),
                    _ => format!("the arguments are not JSON: {error}; expected an object"),
                },
            }),
        }
    }

    /// Calls a tool with parsed input.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool is unknown or the call fails.
    pub async fn call_with(&self, name: &str, input: Value) -> Result<String, ToolError> {
        let span = CallSpan::open(self.known(name), None);
        let made = self.make(name, input, &span);

        span.around(made).await
    }

    async fn make(&self, name: &str, input: Value, span: &CallSpan) -> Result<String, ToolError> {
        let tool = self.find(name)?;
        if self.traced_content {
            span.record_arguments(&input);
        }

        let made = self.call_tool(name, tool, input).await;
        if self.traced_content
            && let Ok(result) = &made
        {
            span.record_result(result);
        }

        made
    }

    async fn call_tool(
        &self,
        name: &str,
        tool: &Arc<dyn Tool>,
        input: Value,
    ) -> Result<String, ToolError> {
        // The registry and the tool share no state that a panic could leave inconsistent.
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
            .map_err(|error| self.told(error, name))
    }

    /// Adds the name of the tool, and truncates the message.
    fn told(&self, error: ToolError, name: &str) -> ToolError {
        error.of(name, |text| cut(self.hide_secrets(&text), self.max_bytes))
    }

    /// Returns the name of a tool for a span, since a model may invent any name.
    fn known<'a>(&self, name: &'a str) -> &'a str {
        if self.by_name.contains_key(name) {
            name
        } else {
            "unknown"
        }
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
