//! Reading thoughts, paths and values.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::id::{BranchId, ThoughtId};
use super::{Session, SessionError, Thought};

impl Session {
    /// Returns the thoughts of all branches, in the order in which they were added.
    pub fn thoughts(&self) -> &[Thought] {
        &self.thoughts
    }

    /// Returns the thought with this id.
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

    /// Returns the thoughts from `from` back to the first one, following the first parent of each.
    ///
    /// The path starts with `from` itself. It is empty if that thought doesn't exist.
    pub fn path(&self, from: impl Into<Option<ThoughtId>>) -> impl Iterator<Item = &Thought> {
        let first = from.into().and_then(|thought| self.thought(thought));
        std::iter::successors(first, |thought| self.thought(thought.parent?))
    }

    /// Returns the last value of each parameter on the path of a branch, including merged values.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist.
    pub fn values(&self, branch: BranchId) -> Result<BTreeMap<String, Value>, SessionError> {
        let values = self.values_since(self.branch(branch)?.tip(), 0);
        Ok(values
            .into_iter()
            .map(|(name, (value, _))| (name, value))
            .collect())
    }

    /// Returns the last value of each parameter on a path below `depth`, and the depth at which it
    /// was set.
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

    /// Returns the last thought that two paths share.
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

    /// Returns the branches of a path, the last one first, each with the number of its last thought
    /// on the path. It moves from fork to fork, so its cost doesn't depend on the number of
    /// thoughts.
    fn lines(&self, tip: Option<ThoughtId>) -> impl Iterator<Item = (BranchId, u32)> {
        let thought = |id: Option<ThoughtId>| self.thought(id?);
        let before = move |last: &&Thought| thought(self.branch(last.branch).ok()?.from);
        std::iter::successors(thought(tip), before).map(|last| (last.branch, last.number))
    }

    /// Returns the number of thoughts from the first one to `thought`, which is included.
    pub(super) fn depth(&self, thought: Option<ThoughtId>) -> u32 {
        thought
            .and_then(|thought| self.thought(thought))
            .map_or(0, |thought| thought.depth)
    }

    /// Returns whether a thought is on the path to another.
    pub(super) fn is_on_path(&self, thought: &Thought, tip: Option<ThoughtId>) -> bool {
        self.lines(tip)
            .any(|(branch, last)| branch == thought.branch && thought.number <= last)
    }
}
