use std::time::Duration;

use cogwork_text::{MultiLine, Name, NameList, OneLine};

/// Why the call of a tool gave nothing, in words for the model.
///
/// What a tool says of its failure keeps its lines; nothing unsafe to show is in them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No tool has this name.
    #[error("there is no tool `{}`; {}", Name(name), expected(known))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The input is no JSON, or not what the tool takes.
    #[error("bad input for the tool `{}`: {}", Name(tool), MultiLine::new(problem))]
    Input {
        /// The name of the tool.
        tool: String,
        /// What is wrong, and what would have been accepted.
        problem: String,
    },
    /// The tool ran and failed.
    #[error("the tool `{}` failed: {}", Name(tool), MultiLine::new(problem))]
    Failed {
        /// The name of the tool.
        tool: String,
        /// What it says.
        problem: String,
    },
    /// It took too long.
    #[error("the tool `{}` took longer than {limit:?}", Name(tool))]
    Timeout {
        /// The name of the tool.
        tool: String,
        /// The limit.
        limit: Duration,
    },
    /// A tool cannot be registered.
    #[error("{}", OneLine::new(.0))]
    Registry(String),
}

impl ToolError {
    /// The tool failed with this. The name of the tool is added by the registry.
    pub fn failed(problem: impl std::fmt::Display) -> Self {
        Self::Failed {
            tool: String::new(),
            problem: problem.to_string(),
        }
    }

    /// The input is not right. The name of the tool is added by the registry.
    pub fn input(problem: impl std::fmt::Display) -> Self {
        Self::Input {
            tool: String::new(),
            problem: problem.to_string(),
        }
    }

    /// Whether the call was never made: the tool is unknown, or its input not right.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Input { .. })
    }

    /// With the name of the tool, and with what it says cut.
    pub(crate) fn of(mut self, name: &str, cut: impl Fn(String) -> String) -> Self {
        if let Self::Input { tool, .. } | Self::Failed { tool, .. } | Self::Timeout { tool, .. } =
            &mut self
            && tool.is_empty()
        {
            name.clone_into(tool);
        }

        if let Self::Input { problem, .. }
        | Self::Failed { problem, .. }
        | Self::Registry(problem) = &mut self
        {
            *problem = cut(std::mem::take(problem));
        }

        self
    }
}

/// What would have been accepted.
fn expected(known: &[String]) -> String {
    if known.is_empty() {
        return "there are no tools".to_owned();
    }
    format!("expected {}", NameList::or(known))
}
