//! How many bytes thoughts take, and forgetting some of them to make room.

use serde_json::Value;

use super::id::ThoughtId;
use super::{Branch, Session, SessionError, SessionLimit, Thought, WhenFull};

/// Returns the approximate number of bytes that a thought takes in memory.
pub(super) fn bytes(thought: &Thought) -> usize {
    let merged = thought.merged.as_ref().map_or(0, |merged| {
        let lists = size_of_val(&merged.sources[..]) + size_of_val(&merged.parents[..]);
        let conflicts = merged.conflicts.iter().map(|conflict| {
            let values: usize = conflict.values.iter().map(value_bytes).sum();
            size_of_val(conflict)
                + conflict.parameter.len()
                + size_of_val(&conflict.branches[..])
                + values
        });

        size_of_val(&**merged) + lists + tree_bytes(merged.values.iter()) + conflicts.sum::<usize>()
    });

    // The branch stores the id of the thought as well.
    size_of::<Thought>() + size_of::<ThoughtId>() + content_bytes(thought) + merged
}

/// Returns the number of bytes that forgetting the thought frees.
fn content_bytes(thought: &Thought) -> usize {
    let parameters = thought.parameters.iter();
    let parameters =
        parameters.map(|(name, value)| size_of::<Box<str>>() + name.len() + value_bytes(value));
    thought.text.len() + parameters.sum::<usize>()
}

/// A node of the standard library's B-tree has room for 11 entries and is at least half full.
fn tree_bytes<'a>(entries: impl ExactSizeIterator<Item = (&'a String, &'a Value)>) -> usize {
    let nodes = entries.len().div_ceil(6) * 11 * size_of::<(String, Value)>();
    nodes
        + entries
            .map(|(name, value)| name.len() + value_bytes(value))
            .sum::<usize>()
}

/// The recursion is bounded, since the type of a parameter bounds its depth; 32 levels for `any`.
fn value_bytes(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Array(list) => list.iter().map(value_bytes).sum(),
            Value::Object(object) => tree_bytes(object.iter()),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

impl Session {
    /// Makes room for `needed` bytes, or returns an error without changing anything.
    pub(super) fn make_room(&mut self, needed: usize) -> Result<(), SessionError> {
        let most = self.policy.limits.bytes;
        let excess = self.bytes.saturating_add(needed).saturating_sub(most);
        if excess == 0 {
            return Ok(());
        }

        let full = SessionError::Full {
            limit: SessionLimit::Bytes,
            most,
        };
        if self.policy.when_full == WhenFull::Refuse || !self.may_forget {
            return Err(full);
        }

        let kept = self.kept();
        let thoughts = self.thoughts.iter().zip(&kept);
        let forgettable = thoughts.filter(|(thought, kept)| !**kept && !thought.forgotten);
        let freed: usize = forgettable.map(|(thought, _)| content_bytes(thought)).sum();
        if freed < excess {
            return Err(full);
        }

        self.forget_except(kept);
        Ok(())
    }

    fn forget_except(&mut self, kept: Vec<bool>) {
        for (thought, kept) in self.thoughts.iter_mut().zip(kept) {
            if !kept && !thought.forgotten {
                self.bytes = self.bytes.saturating_sub(content_bytes(thought));
                thought.text = "".into();
                thought.parameters = Box::default();
                thought.forgotten = true;
            }
        }

        // Until another branch is pruned, there is nothing more to forget.
        self.may_forget = false;
    }

    /// Returns for each thought whether a branch in use builds on it.
    pub(super) fn kept(&self) -> Vec<bool> {
        let mut kept = vec![false; self.thoughts.len()];
        let in_use = self.branches.iter().filter(|branch| branch.is_in_use());
        let mut open: Vec<ThoughtId> = in_use.filter_map(Branch::tip).collect();

        while let Some(id) = open.pop() {
            match id.index().and_then(|index| kept.get_mut(index)) {
                Some(kept) if !*kept => *kept = true,
                _ => continue,
            }
            open.extend(self.thought(id).into_iter().flat_map(Thought::parents));
        }

        kept
    }
}
