use cogwork_typed::ask::{Spent, ToolUse, Try};
use serde::{Deserialize, Serialize};

use super::output::Output;

/// A visit to a node of a flow of agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Visit {
    /// The id of the node.
    pub node: String,
    /// The output; `None` if the visit failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// The error in one line; `None` if the visit ended with an output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Every reply of the model to the question of the visit, in order, with the complaints. Of those
    /// that couldn't be used, at most 256 KiB each are kept. Replies to thinking modes are in the
    /// report of the output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<Try>,
    /// The tool calls of a failed visit, in order. Those of other visits are in the output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
    /// The cost of the visit, including failed calls.
    #[serde(skip_serializing_if = "Spent::is_zero")]
    pub spent: Spent,
    /// The visits inside a subflow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<Visit>,
}

impl Visit {
    pub(crate) fn of(node: &str) -> Self {
        Self {
            node: node.to_owned(),
            ..Self::default()
        }
    }

    /// Ends a visit with its output, which gets the tool calls and the cost.
    pub(crate) fn with_output(mut self, output: Output) -> Self {
        self.output = Some(Output {
            tools: std::mem::take(&mut self.tools),
            calls: self.spent.calls,
            usage: self.spent.usage,
            ..output
        });
        self
    }
}
