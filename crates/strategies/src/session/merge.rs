use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{BranchId, BranchStatus, Session, SessionError, Thought, ThoughtDraft, ThoughtId};

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
    /// The branches that set it, with their last values, in the order in which they did. The last
    /// value was taken.
    pub values: Vec<(BranchId, Value)>,
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
            merged: Some(merged),
            // Refused before any branch is closed.
            ..self.checked(into, draft)?
        };
        let id = self.add(thought)?;

        for source in sources {
            self.branch_mut(*source)?.status = BranchStatus::Merged(id);
            // The current branch has to stay in use.
            if self.current == *source {
                self.current = into;
            }
        }
        Ok(id)
    }

    fn merged(&self, sources: &[BranchId], into: BranchId) -> Result<Merged, SessionError> {
        let target = self.open(into)?.tip();
        let once: HashSet<BranchId> = sources.iter().copied().collect();
        if sources.is_empty() || once.len() != sources.len() || once.contains(&into) {
            let message =
                "expected one or more branches to merge, each once, and the target not among them";
            return Err(SessionError::impossible(message));
        }

        // Paths share their beginning. Only what a source added by itself is merged.
        let on_target: HashSet<ThoughtId> = self.path(target).map(|one| one.id).collect();
        let mut last_values: BTreeMap<&str, Vec<Set<'_>>> = BTreeMap::new();
        let mut parents = Vec::new();
        let mut diverged = target;

        for source in sources {
            let tip = self.open(*source)?.tip();
            let is_own = |thought: &&Thought| !on_target.contains(&thought.id);
            let own: Vec<&Thought> = self.path(tip).take_while(is_own).collect();

            parents.extend(tip);
            diverged = diverged.min(own.last().map_or(tip, |first| first.parent));
            for (name, set) in sets(*source, own) {
                last_values.entry(name).or_default().push(set);
            }
        }

        // The target has changed since the first of them diverged.
        let since = |thought: &&Thought| Some(thought.id) > diverged;
        for (name, set) in sets(into, self.path(target).take_while(since)) {
            last_values.entry(name).and_modify(|sets| sets.push(set));
        }

        let mut values = BTreeMap::new();
        let mut conflicts = Vec::new();
        for (name, mut sets) in last_values {
            // Numbers of thoughts grow over all branches, so they say which value came last.
            sets.sort_by_key(|set| set.by);
            let value = sets.last().map(|last| last.value);
            if sets.iter().any(|set| Some(set.value) != value) {
                let values = sets.iter().map(|set| (set.branch, set.value.clone()));
                conflicts.push(Conflict {
                    parameter: name.to_owned(),
                    values: values.collect(),
                });
            }
            values.extend(value.map(|value| (name.to_owned(), value.clone())));
        }
        Ok(Merged {
            sources: sources.to_vec(),
            parents,
            values,
            conflicts,
        })
    }
}

/// The last value of a parameter on a branch, and the thought that set it.
struct Set<'s> {
    branch: BranchId,
    by: ThoughtId,
    value: &'s Value,
}

/// Returns the last values that the thoughts of a branch set, of which the newest comes first.
fn sets<'s>(
    branch: BranchId,
    thoughts: impl IntoIterator<Item = &'s Thought>,
) -> BTreeMap<&'s str, Set<'s>> {
    let mut sets = BTreeMap::new();
    for thought in thoughts {
        let by = thought.id;
        // A branch may itself have taken over values in an earlier merge.
        let merged = thought.merged.iter().flat_map(|merged| &merged.values);
        for (name, value) in thought.parameters.iter().chain(merged) {
            let set = Set { branch, by, value };
            // The thoughts come newest first, so the first value is the last one that was set.
            sets.entry(name.as_str()).or_insert(set);
        }
    }
    sets
}
