use cogwork_typed::ask::{Spent, ToolUse, Try};
use serde::{Deserialize, Serialize};

use super::output::Output;

/// A visit to a node of a flow of agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Visit {
    /// The id of the node; for a failure inside a subflow, its path, such as `review/critic`.
    pub node: String,
    /// The output; `None` if the visit failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// The error in one line; `None` if the visit ended with an output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Every reply of the model to the question of the visit, in order, with the complaints. Of
    /// long replies, the beginning is kept, at most 256 KiB of all together and 1 KiB of each one
    /// beyond that. Replies to thinking modes are in the report of the output.
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
    /// Creates a visit of a node with its cost.
    pub(crate) fn of(node: &str, spent: Spent) -> Self {
        Self {
            node: node.to_owned(),
            spent,
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

    pub(crate) fn with_tries(mut self, tries: impl IntoIterator<Item = Try>) -> Self {
        for one in tries {
            let kept = bounded(one, &self.tries);
            self.tries.push(kept);
        }

        self
    }
}

/// Returns a try with as much of its reply as there is room for after the others.
pub(crate) fn bounded(one: Try, others: &[Try]) -> Try {
    /// The maximum number of bytes of all replies.
    const MAX_KEPT: usize = 256 * 1024;

    /// The minimum number of bytes of each reply.
    const MIN_KEPT: usize = 1024;

    let kept: usize = others.iter().map(|other| other.reply.len()).sum();
    let room = MAX_KEPT.saturating_sub(kept);

    Try {
        reply: cut(one.reply, room.max(MIN_KEPT)),
        complaint: one.complaint,
    }
}

/// Returns the beginning of a text of at most this many bytes, followed by a mark if it was cut.
fn cut(mut text: String, max_bytes: usize) -> String {
    if text.len() > max_bytes {
        let end = (0..=max_bytes).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text.push_str(" […]");
    }
    text
}
