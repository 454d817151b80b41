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
    /// The parameters that the sources had set since they diverged from the target, each with the
    /// last value of every branch that set it, in order. The last one counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Vec<(BranchId, Value)>>,
}

impl Session {
    /// Merges branches into another one. Adds a thought whose parents are the last thoughts of all
    /// these branches, and returns its id.
    ///
    /// The source branches are closed. If one of them is the current branch, the target becomes the
    /// current one. Like any other thought, it continues from the stage of the target. Texts aren't
    /// merged, but parameters are: the target takes over the values that the sources have set since
    /// they diverged from it. If values differ, the one that was set last wins. The new thought
    /// [records](super::Thought::merged) the values of all branches.
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
            return Err(SessionError::Refused(message.to_owned()));
        }

        // Paths share their beginning. Only what a source added by itself is merged.
        let on_target: HashSet<ThoughtId> = self.path(target).map(|one| one.id).collect();
        let mut sets: Vec<Set<'_>> = Vec::new();
        let mut parents = Vec::new();
        let mut diverged = target;

        for source in sources {
            let tip = self.open(*source)?.tip();
            let is_own = |thought: &&Thought| !on_target.contains(&thought.id);
            let own: Vec<&Thought> = self.path(tip).take_while(is_own).collect();

            parents.extend(tip);
            diverged = diverged.min(own.last().map_or(tip, |first| first.parent));
            sets.extend(own.into_iter().flat_map(|one| sets_of(*source, one)));
        }

        // The target has changed since the first of them diverged.
        let names: HashSet<&str> = sets.iter().map(|(_, name, ..)| *name).collect();
        let since = |thought: &&Thought| Some(thought.id) > diverged;
        let of_target = self.path(target).take_while(since);
        let of_target = of_target.flat_map(|one| sets_of(into, one));
        sets.extend(of_target.filter(|(_, name, ..)| names.contains(name)));

        // Numbers of thoughts grow over all branches, so they say which value came last.
        sets.sort_by_key(|(by, ..)| *by);
        let mut values: BTreeMap<String, Vec<(BranchId, Value)>> = BTreeMap::new();
        for (_, name, branch, value) in sets {
            let values = values.entry(name.to_owned()).or_default();
            values.retain(|(other, _)| *other != branch);
            values.push((branch, value.clone()));
        }
        Ok(Merged {
            sources: sources.to_vec(),
            parents,
            values,
        })
    }
}

/// A thought that set a parameter, the name, the branch of the thought, and the value.
type Set<'s> = (ThoughtId, &'s str, BranchId, &'s Value);

/// Returns the parameters that a thought set, the ones that count last.
fn sets_of(branch: BranchId, thought: &Thought) -> impl Iterator<Item = Set<'_>> {
    // A branch may itself have taken over values in an earlier merge.
    let merged = thought.merged.iter().flat_map(|merged| &merged.values);
    let merged = merged.filter_map(|(name, values)| Some((name, &values.last()?.1)));
    let all = merged.chain(&thought.parameters);
    all.map(move |(name, value)| (thought.id, name.as_str(), branch, value))
}
