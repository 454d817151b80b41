use std::time::Duration;

use cogwork_text::{MultiLine, Name, NameList, OneLine};

/// The error of a tool call. Its message is intended for the model.
///
/// A message from a tool keeps its line breaks, but characters that are unsafe to print are
/// replaced.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No tool has this name.
    #[error("there is no tool `{}`; {}", Name(name), expected(known))]
    Unknown {
        /// The unknown name.
        name: String,
        /// The names of the existing tools.
        known: Vec<String>,
    },
    /// The input isn't JSON, or doesn't match the schema of the tool.
    #[error("bad input for the tool `{}`: {}", Name(tool), MultiLine::new(problem))]
    Input {
        /// The name of the tool.
        tool: String,
        /// What is wrong, and what is expected instead.
        problem: String,
    },
    /// The tool failed.
    #[error("the tool `{}` failed: {}", Name(tool), MultiLine::new(problem))]
    Failed {
        /// The name of the tool.
        tool: String,
        /// The message of the tool.
        problem: String,
    },
    /// The tool can't be called, for example because its server has ended.
    #[error(
        "the tool `{}` is not available: {}",
        Name(tool),
        MultiLine::new(problem)
    )]
    Unavailable {
        /// The name of the tool.
        tool: String,
        /// Why it can't be called.
        problem: String,
    },
    /// The call took too long.
    #[error("the tool `{}` took longer than {limit:?}", Name(tool))]
    Timeout {
        /// The name of the tool.
        tool: String,
        /// The timeout.
        limit: Duration,
    },
    /// The tool can't be registered.
    #[error("{}", OneLine::new(.0))]
    Registry(String),
}

cogwork_text::debug_as_display!(ToolError);

impl ToolError {
    /// Creates the error of a tool that failed. The registry adds the name of the tool.
    pub fn failed(problem: impl std::fmt::Display) -> Self {
        Self::Failed {
            tool: String::new(),
            problem: problem.to_string(),
        }
    }

    /// Creates the error of a tool whose input is wrong. The registry adds the name of the tool.
    pub fn input(problem: impl std::fmt::Display) -> Self {
        Self::Input {
            tool: String::new(),
            problem: problem.to_string(),
        }
    }

    /// Creates the error of a tool that can't be called. The registry adds the name of the tool.
    pub fn unavailable(problem: impl std::fmt::Display) -> Self {
        Self::Unavailable {
            tool: String::new(),
            problem: problem.to_string(),
        }
    }

    /// Adds the name of the tool, and truncates the message with `cut`.
    pub(crate) fn of(mut self, name: &str, cut: impl Fn(String) -> String) -> Self {
        if let Self::Input { tool, .. }
        | Self::Failed { tool, .. }
        | Self::Unavailable { tool, .. }
        | Self::Timeout { tool, .. } = &mut self
            // A tool that calls other tools has named the one that failed.
            && tool.is_empty()
        {
            name.clone_into(tool);
        }

        // These texts come from tools, and may have any length.
        if let Self::Input { problem, .. }
        | Self::Failed { problem, .. }
        | Self::Unavailable { problem, .. }
        | Self::Registry(problem) = &mut self
        {
            *problem = cut(std::mem::take(problem));
        }

        self
    }
}

/// Returns what is expected instead.
fn expected(known: &[String]) -> String {
    // The model has invented a tool although it was offered none.
    if known.is_empty() {
        return "there are no tools".to_owned();
    }
    format!("expected {}", NameList::or(known))
}
