use serde::{Deserialize, Serialize};

use super::branches::{Bounds, Branches};
use super::numbers::Numbers;
use super::thought::Thought;
use crate::ServerLimits;
use crate::store::{Recorded, SessionKind, SessionStore, Shortened};

/// What is kept in memory of a session: everything but the texts, which are in the store.
///
/// The oldest thoughts are dropped when there are too many, a hundredth of the maximum at a time.
/// They remain counted, and so do their branches.
#[derive(Debug)]
pub(super) struct History {
    thoughts: usize,
    bounds: Bounds,
    /// The number of thoughts that were recorded.
    total: u64,
    /// The number of thoughts that were dropped.
    dropped: u64,
    /// The value of `dropped` in the store.
    dropped_in_store: u64,
    /// The value of `dropped` in the store if the last change is stored.
    dropped_by_change: u64,
    branches: Branches,
    /// The number of thoughts that the branches include.
    in_branches: u64,
    numbers: Numbers,
}

/// What is kept instead of thoughts that are dropped.
#[derive(Serialize, Deserialize)]
struct Base {
    /// The number of thoughts that the branches include, some of which are not dropped.
    total: u64,
    branches: Branches,
}

impl History {
    fn new(limits: &ServerLimits) -> Self {
        let bounds = Bounds {
            branches: limits.branches,
            bytes: limits.thought_bytes,
        };
        Self {
            thoughts: limits.thoughts,
            bounds,
            total: 0,
            dropped: 0,
            dropped_in_store: 0,
            dropped_by_change: 0,
            branches: Branches::default(),
            in_branches: 0,
            numbers: Numbers::default(),
        }
    }

    /// Returns the number of thoughts, including those that were dropped.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn branches(&self) -> &Branches {
        &self.branches
    }

    /// Adds a thought that isn't stored yet.
    pub(super) fn record(&mut self, thought: &Thought) {
        // Otherwise, this state wouldn't be used any more.
        self.dropped_in_store = self.dropped_by_change;

        self.add(thought);
        self.dropped_by_change = self.dropped;
    }

    fn add(&mut self, thought: &Thought) {
        self.total = self.total.saturating_add(1);
        self.numbers.push(thought.thought_number);

        if self.total > self.in_branches {
            self.in_branches = self.total;
            if let Some((id, _)) = thought.branch() {
                self.branches.record(id, self.total, self.bounds);
            }
        }

        self.dropped = self.dropped.max(self.excess());
        let kept = self.total.saturating_sub(self.dropped);
        self.numbers
            .keep(usize::try_from(kept).unwrap_or(usize::MAX));
    }

    /// Returns how many thoughts must have been dropped. Since this depends on nothing but the
    /// number of thoughts, it is the same in all processes, and after a restart.
    fn excess(&self) -> u64 {
        let most = u64::try_from(self.thoughts).unwrap_or(u64::MAX);
        let at_once = most.div_ceil(100).max(1);
        let excess = self.total.saturating_sub(most);
        excess.div_ceil(at_once).saturating_mul(at_once)
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
        if self.numbers.contains(number) {
            return Ok(());
        }

        let last = self.numbers.last();
        let expected = last.map_or("there are no thoughts yet".to_owned(), |last| {
            format!("expected the number of a thought of this session; the last one is {last}")
        });
        Err(format!("{name}: there is no thought {number}; {expected}"))
    }

    fn check_branch(&self, thought: &Thought) -> Result<(), String> {
        let Some(id) = &thought.branch_id else {
            return Ok(());
        };
        if thought.branch_from_thought.is_some() || self.branches.contains(id) {
            return Ok(());
        }

        let id = cogwork_text::Name(id);
        Err(format!(
            "branchId: there is no branch `{id}`; set branchFromThought as well to start one"
        ))
    }
}

impl Recorded for History {
    const KIND: Option<SessionKind> = Some(SessionKind::Sequential);

    type Entry = Thought;

    fn empty(store: &SessionStore) -> Self {
        Self::new(store.limits())
    }

    fn replay(&mut self, entry: Thought) -> Result<(), String> {
        self.add(&entry);
        Ok(())
    }

    fn shortened(&self) -> Option<Shortened> {
        if self.dropped == self.dropped_in_store {
            return None;
        }

        let base = Base {
            total: self.in_branches,
            branches: self.branches.clone(),
        };
        Some(Shortened {
            dropped: self.dropped,
            base: serde_json::to_string(&base).ok()?,
        })
    }

    fn restore(&mut self, shortened: Shortened) -> Result<(), String> {
        let base = serde_json::from_str(&shortened.base);
        let base: Base = base.map_err(|error| error.to_string())?;

        self.total = shortened.dropped;
        self.dropped = shortened.dropped;
        self.dropped_in_store = shortened.dropped;
        self.dropped_by_change = shortened.dropped;
        self.branches = base.branches;
        self.in_branches = base.total;
        Ok(())
    }
}
