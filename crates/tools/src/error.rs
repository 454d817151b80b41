use std::fmt;
use std::time::Duration;

use cogwork_text::{MultiLine, Name, NameList};

/// The error of a tool call. Its message is intended for the model.
///
/// A message from a tool keeps its line breaks, but characters that are unsafe to print are
/// replaced.
pub struct ToolError {
    kind: Kind,
    tool: String,
    problem: String,
}

#[derive(Clone, Copy)]
enum Kind {
    Unknown,
    Input,
    Failed,
    Unavailable,
    Timeout,
    Registry,
}

cogwork_text::debug_as_display!(ToolError);

impl ToolError {
    /// Creates the error of a tool that failed. The registry adds the name of the tool.
    pub fn failed(problem: impl fmt::Display) -> Self {
        Self::new(Kind::Failed, problem)
    }

    /// Creates the error of a tool whose input is wrong. The registry adds the name of the tool.
    pub fn input(problem: impl fmt::Display) -> Self {
        Self::new(Kind::Input, problem)
    }

    /// Creates the error of a tool that can't be called, for example because its server has ended.
    /// The registry adds the name of the tool.
    pub fn unavailable(problem: impl fmt::Display) -> Self {
        Self::new(Kind::Unavailable, problem)
    }

    pub(crate) fn timeout(limit: Duration) -> Self {
        Self::new(Kind::Timeout, format_args!("{limit:?}"))
    }

    /// Creates the error of a name that no tool has.
    pub(crate) fn unknown<'n>(name: &str, known: impl Iterator<Item = &'n String> + Clone) -> Self {
        let name = Name(name);
        let expected = match known.clone().next() {
            Some(_) => format!("expected {}", NameList::or(known)),
            // The model has invented a tool although it was offered none.
            None => "there are no tools".to_owned(),
        };
        Self::new(
            Kind::Unknown,
            format_args!("there is no tool `{name}`; {expected}"),
        )
    }

    /// Creates the error of a tool that can't be registered.
    pub(crate) fn registry(problem: impl fmt::Display) -> Self {
        Self::new(Kind::Registry, problem)
    }

    fn new(kind: Kind, problem: impl fmt::Display) -> Self {
        Self {
            kind,
            tool: String::new(),
            problem: problem.to_string(),
        }
    }

    /// Adds the name of the tool, and truncates the message with `cut`.
    pub(crate) fn of(mut self, name: &str, cut: impl Fn(String) -> String) -> Self {
        // A tool that calls other tools has named the one that failed.
        if self.tool.is_empty() {
            name.clone_into(&mut self.tool);
        }

        // The text comes from the tool, and may have any length.
        self.problem = cut(self.problem);
        self
    }

    /// Returns a name of the kind, for spans.
    pub(crate) fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Unknown => "unknown_tool",
            Kind::Input => "wrong_input",
            Kind::Failed => "failed",
            Kind::Unavailable => "unavailable",
            Kind::Timeout => "timeout",
            Kind::Registry => "_OTHER",
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = Name(&self.tool);
        let problem = MultiLine::new(&self.problem);
        match self.kind {
            Kind::Input => write!(f, "bad input for the tool `{tool}`: {problem}"),
            Kind::Failed => write!(f, "the tool `{tool}` failed: {problem}"),
            Kind::Unavailable => write!(f, "the tool `{tool}` is not available: {problem}"),
            Kind::Timeout => write!(f, "the tool `{tool}` took longer than {problem}"),
            Kind::Unknown | Kind::Registry => problem.fmt(f),
        }
    }
}

impl std::error::Error for ToolError {}
