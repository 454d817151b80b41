//! The steps that a reply leaves undone when it ends the reasoning.

use cogwork_plan::{Status, WalkEntry};
use cogwork_text::OneLine;

use crate::{Reply, ReplyProblem, ReplyProblemKind};

/// The maximum number of steps that are listed. The others are counted.
const NAMED: usize = 20;
/// The maximum number of characters of a description that are shown.
const WIDTH: usize = 200;

/// The steps of a plan that are not done. A step with open sub-steps is not listed itself.
pub(crate) struct OpenSteps {
    named: Vec<String>,
    more: usize,
}

impl OpenSteps {
    /// Returns the steps that a final reply leaves undone, or `None` if there are none or the reply
    /// is not final.
    pub(crate) fn left_by(reply: &Reply) -> Option<Self> {
        if reply.next_thought_needed {
            return None;
        }

        let mut open: Vec<WalkEntry<'_>> = Vec::new();

        // Whether the walk is still below the last open step.
        let mut beneath = false;
        for entry in reply.planning.walk() {
            beneath = beneath && open.last().is_some_and(|last| last.depth < entry.depth);
            if entry.step.status != Status::Done {
                if beneath {
                    open.pop();
                }

                open.push(entry);
                beneath = true;
            }
        }

        let name = |entry: &WalkEntry<'_>| {
            let path = entry.path();
            let status = entry.step.status;
            let description = OneLine::new(&entry.step.description).with_max_chars(WIDTH);
            format!("{path} {description} ({status})")
        };

        let named: Vec<String> = open.iter().take(NAMED).map(name).collect();
        let more = open.len() - named.len();
        (!named.is_empty()).then_some(Self { named, more })
    }

    /// Returns the steps for the model, one per line.
    pub(crate) fn lines(&self) -> String {
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        let lines = self
            .named
            .iter()
            .chain(&more)
            .map(|line| format!("- {line}"));

        lines.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn problem(&self) -> ReplyProblem {
        let more = if self.more > 0 {
            format!("; and {} more", self.more)
        } else {
            String::new()
        };

        let message = format!(
            "the reply ends the reasoning, but these steps of its plan are not done: {}{more}",
            self.named.join("; ")
        );
        ReplyProblem::new(ReplyProblemKind::EndedEarly, message)
    }
}
