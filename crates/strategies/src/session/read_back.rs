//! Reading a session: thoughts, paths, differences, histories.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::id::{BranchId, ThoughtId};
use super::{Session, SessionError, Thought};

/// What two branches have and the other has not, each list from old to new.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Difference<'s> {
    /// The last thought that both have.
    pub parted: Option<ThoughtId>,
    /// The thoughts of the one since then.
    pub ours: Vec<&'s Thought>,
    /// The thoughts of the other since then.
    pub theirs: Vec<&'s Thought>,
}

impl Session {
    /// All thoughts of all branches, in the order in which they were thought.
    pub fn thoughts(&self) -> &[Thought] {
        &self.thoughts
    }

    /// A thought.
    pub fn thought(&self, thought: ThoughtId) -> Option<&Thought> {
        thought.index().and_then(|index| self.thoughts.get(index))
    }

    pub(super) fn existing(&self, thought: ThoughtId) -> Result<&Thought, SessionError> {
        let missing = SessionError::NoSuchThought {
            thought,
            thoughts: self.thoughts.len(),
        };
        self.thought(thought).ok_or(missing)
    }

    /// From a thought to the first one of the session, itself included, along the first parent of each.
    /// Nothing for a thought that is not there.
    pub fn path(&self, from: impl Into<Option<ThoughtId>>) -> impl Iterator<Item = &Thought> {
        let first = from.into().and_then(|thought| self.thought(thought));
        std::iter::successors(first, |thought| self.thought(thought.parent?))
    }

    /// What two branches have thought since they parted.
    ///
    /// # Errors
    ///
    /// When one of them is not there.
    pub fn difference(
        &self,
        ours: BranchId,
        theirs: BranchId,
    ) -> Result<Difference<'_>, SessionError> {
        let ours = self.branch(ours)?.tip();
        let theirs = self.branch(theirs)?.tip();
        let parted = self.common(ours, theirs);
        let since = |tip: Option<ThoughtId>| {
            let mut list: Vec<&Thought> = self
                .path(tip)
                .take_while(|t| Some(t.id) != parted)
                .collect();
            list.reverse();
            list
        };

        Ok(Difference {
            parted,
            ours: since(ours),
            theirs: since(theirs),
        })
    }

    /// The last thoughts on the path of a branch, from old to new: at most so many, and with at most so
    /// many bytes of text. No thought is cut.
    ///
    /// # Errors
    ///
    /// When the branch is not there.
    pub fn history(
        &self,
        branch: BranchId,
        max_thoughts: usize,
        max_bytes: usize,
    ) -> Result<Vec<&Thought>, SessionError> {
        let mut left = max_bytes;
        let fits = |thought: &&Thought| match left.checked_sub(thought.text.len()) {
            Some(less) => {
                left = less;
                true
            }
            None => false,
        };

        let tip = self.branch(branch)?.tip();
        let mut history: Vec<&Thought> =
            self.path(tip).take(max_thoughts).take_while(fits).collect();
        history.reverse();

        Ok(history)
    }

    /// What the path of a branch says of each parameter: the last value, merged ones included.
    ///
    /// # Errors
    ///
    /// When the branch is not there.
    pub fn values(&self, branch: BranchId) -> Result<BTreeMap<String, Value>, SessionError> {
        let values = self.values_since(self.branch(branch)?.tip(), 0);
        Ok(values
            .into_iter()
            .map(|(name, (value, _))| (name, value))
            .collect())
    }

    /// The last value of each parameter on a path below a depth, and the depth where it was set.
    pub(super) fn values_since(
        &self,
        tip: Option<ThoughtId>,
        depth: u32,
    ) -> BTreeMap<String, (Value, u32)> {
        let mut values = BTreeMap::new();
        for thought in self.path(tip).take_while(|thought| thought.depth > depth) {
            for (name, value) in thought.values() {
                if !values.contains_key(name) {
                    values.insert(name.to_owned(), (value.clone(), thought.depth));
                }
            }
        }

        values
    }

    /// The last thought that two paths share.
    pub(super) fn common(&self, a: Option<ThoughtId>, b: Option<ThoughtId>) -> Option<ThoughtId> {
        let ours: HashMap<BranchId, u32> = self.lines(a).collect();
        let shared = self
            .lines(b)
            .find_map(|(branch, number)| Some((branch, number.min(*ours.get(&branch)?))));
        let (branch, number) = shared?;
        let own = &self.branch(branch).ok()?.own;

        own.get(usize::try_from(number).ok()?.checked_sub(1)?)
            .copied()
    }

    /// The branches of a path from its end on, each with the number of its last thought on the path. Goes
    /// from fork to fork and not from thought to thought, so that what needs no more costs the same in a
    /// long session as in a short one.
    fn lines(&self, tip: Option<ThoughtId>) -> impl Iterator<Item = (BranchId, u32)> {
        let thought = |id: Option<ThoughtId>| self.thought(id?);
        let before = move |last: &&Thought| thought(self.branch(last.branch).ok()?.from);
        std::iter::successors(thought(tip), before).map(|last| (last.branch, last.number))
    }

    /// Thoughts from the root to this one, itself counted.
    pub(super) fn depth(&self, thought: Option<ThoughtId>) -> u32 {
        thought
            .and_then(|thought| self.thought(thought))
            .map_or(0, |thought| thought.depth)
    }

    /// Whether a thought is on the path to another.
    pub(super) fn is_on_path(&self, thought: &Thought, tip: Option<ThoughtId>) -> bool {
        self.lines(tip)
            .any(|(branch, last)| branch == thought.branch && thought.number <= last)
    }
}
