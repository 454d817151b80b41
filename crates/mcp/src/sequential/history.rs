//! The thoughts of a session.

use std::collections::{HashSet, VecDeque};

use cogwork_tools::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use crate::ServerLimits;
use crate::store::{Recorded, SessionKind, SessionStore};

/// A thought, as it is recorded and as it is sent. Some hosts send booleans as text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thought {
    /// What this step of the reasoning says
    pub(crate) thought: String,
    /// Whether another step follows
    #[schemars(extend("type" = ["boolean", "string"]))]
    pub(crate) next_thought_needed: bool,
    /// The number of this thought, starting from 1
    #[schemars(range(min = 1, max = MAX_INTEGER))]
    pub(crate) thought_number: u64,
    /// How many thoughts will probably be needed in all
    #[schemars(range(min = 1, max = MAX_INTEGER))]
    pub(crate) total_thoughts: u64,
    /// Whether this thought corrects an earlier one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["boolean", "string"]))]
    pub(crate) is_revision: Option<bool>,
    /// The number of the thought that is corrected
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_INTEGER))]
    pub(crate) revises_thought: Option<u64>,
    /// The number of the thought at which the branch starts
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_INTEGER))]
    pub(crate) branch_from_thought: Option<u64>,
    /// The name of the branch that this thought belongs to
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch_id: Option<String>,
    /// Whether more thoughts are needed than estimated
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["boolean", "string"]))]
    pub(crate) needs_more_thoughts: Option<bool>,
}

/// The greatest number that JavaScript represents with all its neighbours.
const MAX_INTEGER: u64 = (1 << 53) - 1;

impl Thought {
    /// Returns the branch that the thought belongs to, and the number of the thought at which the
    /// branch starts. A branch needs both.
    pub(crate) fn branch(&self) -> Option<(&str, u64)> {
        let id = self.branch_id.as_deref().filter(|id| !id.is_empty());
        id.zip(self.branch_from_thought)
    }
}

/// What is kept in memory of a session: everything but the texts, which are in the store.
///
/// If there are too many thoughts, the oldest ones are dropped. They remain counted.
#[derive(Debug)]
pub(super) struct History {
    limits: ServerLimits,
    /// The number of thoughts that were recorded.
    total: u64,
    kept: VecDeque<Kept>,
}

/// A thought without its text.
#[derive(Debug)]
struct Kept {
    /// The number that the model gave it. Several thoughts may have the same one.
    number: u64,
    branch: Option<String>,
}

impl History {
    /// Returns the number of thoughts, including those that were dropped.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the names of the branches, from the first to the last that was begun. If there are too
    /// many, the first ones are left out.
    pub(super) fn branches(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        let branches = self.kept.iter().filter_map(|kept| kept.branch.as_deref());
        let branches: Vec<_> = branches.filter(|branch| known.insert(*branch)).collect();

        let excess = branches.len().saturating_sub(self.limits.branches);
        branches.into_iter().skip(excess).collect()
    }

    /// Adds a thought.
    pub(super) fn record(&mut self, thought: &Thought) {
        self.total = self.total.saturating_add(1);
        self.kept.push_back(Kept {
            number: thought.thought_number,
            branch: thought.branch().map(|(id, _)| id.to_owned()),
        });
        if self.kept.len() > self.limits.thoughts {
            self.kept.pop_front();
        }
    }

    /// Checks that what a thought refers to exists.
    ///
    /// # Errors
    ///
    /// Returns what doesn't exist, and what would be accepted.
    pub(super) fn check(&self, thought: &Thought) -> Result<(), String> {
        if let Some(number) = thought.revises_thought {
            self.check_number(number, "revisesThought")?;
        }
        if let Some(number) = thought.branch_from_thought {
            self.check_number(number, "branchFromThought")?;
        }
        if thought.is_revision == Some(true) && thought.revises_thought.is_none() {
            let message =
                "isRevision is true, so revisesThought is needed: the number of a thought";
            return Err(message.to_owned());
        }
        self.check_branch(thought)
    }

    fn check_number(&self, number: u64, name: &str) -> Result<(), String> {
        if self.kept.iter().any(|kept| kept.number == number) {
            return Ok(());
        }

        let expected = match self.kept.back() {
            None => "there are no thoughts yet".to_owned(),
            Some(Kept { number: last, .. }) => {
                format!("expected the number of a thought of this session; the last one is {last}")
            }
        };
        Err(format!("{name}: there is no thought {number}; {expected}"))
    }

    fn check_branch(&self, thought: &Thought) -> Result<(), String> {
        let Some(id) = &thought.branch_id else {
            return Ok(());
        };
        let is_known = |kept: &Kept| kept.branch.as_ref() == Some(id);
        if thought.branch_from_thought.is_some() || self.kept.iter().any(is_known) {
            return Ok(());
        }

        let id = cogwork_text::Name(id);
        Err(format!(
            "branchId: there is no branch `{id}`; set branchFromThought as well to start one"
        ))
    }
}

impl Recorded for History {
    const KIND: SessionKind = SessionKind::Sequential;

    type Entry = Thought;

    fn empty(store: &SessionStore, dropped: u64) -> Self {
        Self {
            limits: *store.limits(),
            total: dropped,
            kept: VecDeque::new(),
        }
    }

    fn replay(&mut self, entry: Thought) -> Result<(), String> {
        self.record(&entry);
        Ok(())
    }

    fn keep(&self) -> Option<usize> {
        Some(self.limits.thoughts)
    }
}
