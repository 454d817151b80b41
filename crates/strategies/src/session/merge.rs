use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::{BranchId, ThoughtId};
use super::{BranchStatus, Session, SessionError, Thought, ThoughtDraft};

/// The record of a merge, kept by the thought that merged the branches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Merged {
    /// The branches that were merged into the target.
    pub sources: Vec<BranchId>,
    /// The last thought of each source.
    pub parents: Vec<ThoughtId>,
    /// The parameters that the sources had set since they diverged from the target, with the values
    /// that were set last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Value>,
    /// The parameters whose values differed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
}

/// A parameter that merged branches had set to different values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Conflict {
    /// The name of the parameter.
    pub parameter: String,
    /// The branches that set it: the target first, then the sources in order.
    pub branches: Vec<BranchId>,
    /// The value that each of these branches set.
    pub values: Vec<Value>,
    /// The branch that set its value last. Its value was taken.
    pub taken: BranchId,
}

/// A value that a branch has set.
struct Set {
    branch: BranchId,
    by: ThoughtId,
    value: Value,
}

impl Session {
    /// Merges branches into another one. Adds a thought whose parents are the last thoughts of all
    /// these branches, and returns its id.
    ///
    /// The source branches are closed. If one of them is the current branch, the target becomes the
    /// current one. Like any other thought, it continues from the stage of the target. Texts aren't
    /// merged, but parameters are: the target takes over the values that the sources have set since
    /// they diverged from it. If values differ, the one that was set last wins. The new thought
    /// [records](super::Thought::merged) these values and the differences.
    ///
    /// # Errors
    ///
    /// Returns an error if `sources` is empty, contains a branch twice or contains the target, if a
    /// branch doesn't exist or isn't open, or if [`think_on`](Self::think_on) would refuse the
    /// thought.
    pub fn merge(
        &mut self,
        sources: &[BranchId],
        into: BranchId,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let merged = self.merged(sources, into)?;
        let thought = Thought {
            merged: Some(Box::new(merged)),
            ..self.moved(into, &draft)?
        };
        let id = self.add(thought, &draft)?;

        for source in sources {
            self.branch_mut(*source)?.status = BranchStatus::Merged(id);
            if self.current == *source {
                self.current = into;
            }
        }

        Ok(id)
    }

    fn merged(&self, sources: &[BranchId], into: BranchId) -> Result<Merged, SessionError> {
        let target = self.open(into)?.tip();
        let once: BTreeSet<BranchId> = sources.iter().copied().collect();
        if sources.is_empty() || once.len() != sources.len() || once.contains(&into) {
            return Err(SessionError::MergeSources);
        }

        let shared: HashSet<ThoughtId> = self.path(target).map(Thought::id).collect();
        let mut parents = Vec::with_capacity(sources.len());
        let mut set: BTreeMap<String, Vec<Set>> = BTreeMap::new();
        let mut diverged = target;

        for source in sources {
            let tip = self.open(*source)?.tip();
            parents.extend(tip);

            let path = || self.path(tip).map(Thought::id);
            diverged = diverged.min(path().find(|id| shared.contains(id)));
            let own = path().take_while(|id| !shared.contains(id)).last();
            for (name, value) in self.set_since(tip, own, *source) {
                set.entry(name).or_default().push(value);
            }
        }

        let since = self.path(target).map(Thought::id);
        let since = since.take_while(|id| Some(*id) > diverged).last();
        for (name, value) in self.set_since(target, since, into) {
            if let Some(values) = set.get_mut(&name) {
                values.insert(0, value);
            }
        }

        let mut merged = Merged {
            sources: sources.to_vec(),
            parents,
            values: BTreeMap::new(),
            conflicts: Vec::new(),
        };
        for (parameter, values) in set {
            merged.add(parameter, values);
        }
        Ok(merged)
    }

    /// Returns the last value of each parameter that a branch has set from the thought `since` on.
    fn set_since(
        &self,
        tip: Option<ThoughtId>,
        since: Option<ThoughtId>,
        branch: BranchId,
    ) -> BTreeMap<String, Set> {
        let mut values = BTreeMap::new();
        let is_since = |thought: &&Thought| since.is_some_and(|since| thought.id >= since);
        for thought in self.path(tip).take_while(is_since) {
            for (name, value) in thought.values() {
                values.entry(name.clone()).or_insert_with(|| Set {
                    branch,
                    by: thought.id,
                    value: value.clone(),
                });
            }
        }

        values
    }
}

impl Merged {
    /// Adds a parameter with the values that the branches have set.
    fn add(&mut self, parameter: String, set: Vec<Set>) {
        let Some(last) = set.iter().max_by_key(|set| set.by) else {
            return;
        };

        self.values.insert(parameter.clone(), last.value.clone());
        if set.iter().any(|set| set.value != last.value) {
            self.conflicts.push(Conflict {
                parameter,
                taken: last.branch,
                branches: set.iter().map(|set| set.branch).collect(),
                values: set.into_iter().map(|set| set.value).collect(),
            });
        }
    }
}
