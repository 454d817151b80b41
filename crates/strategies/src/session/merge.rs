//! Merging branches.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::id::{BranchId, ThoughtId};
use super::merged::{Conflict, ConflictRule, Merged};
use super::{BranchStatus, Session, SessionError, ThoughtDraft};

impl Session {
    /// Merges branches into another one. Adds a thought whose parents are the last thoughts of all
    /// these branches, and returns its id.
    ///
    /// The source branches are closed. If one of them is the current branch, the target becomes the
    /// current one. Like any other thought, it continues from the stage of the target. Texts aren't
    /// merged, but parameters are: the target takes over the values that the sources have set since
    /// they diverged from it, and `rule` decides between different values. The new thought
    /// [records](super::Thought::merged) each decision.
    ///
    /// # Errors
    ///
    /// Returns an error if `sources` is empty, contains a branch twice or contains the target, if a
    /// branch doesn't exist or isn't open, if `rule` refuses conflicts and there are some, or if
    /// [`think_on`](Self::think_on) would refuse the thought.
    pub fn merge(
        &mut self,
        sources: &[BranchId],
        into: BranchId,
        rule: ConflictRule,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let merged = self.merged(sources, into, rule, |conflict| self.decided(rule, conflict))?;
        if rule == ConflictRule::Refuse && !merged.conflicts.is_empty() {
            return Err(SessionError::Conflicts {
                conflicts: merged.conflicts,
            });
        }

        let mut prepared = self.prepare(into, draft)?;
        prepared.merged = Some(Box::new(merged));
        self.add(prepared)
    }

    /// Closes the branches that a thought has merged.
    pub(super) fn close_merged(&mut self, merged: &Merged, by: ThoughtId, into: BranchId) {
        for source in &merged.sources {
            if let Ok(branch) = self.branch_mut(*source) {
                branch.status = BranchStatus::Merged(by);
            }
            if self.current == *source {
                self.current = into;
            }
        }
    }

    /// Returns the result of a merge. `decide` returns the branch whose value is taken.
    pub(super) fn merged(
        &self,
        sources: &[BranchId],
        into: BranchId,
        rule: ConflictRule,
        decide: impl Fn(&Conflict) -> Option<BranchId>,
    ) -> Result<Merged, SessionError> {
        let target = self.open(into)?.tip();
        let once: BTreeSet<BranchId> = sources.iter().copied().collect();
        if sources.is_empty() || once.len() != sources.len() || once.contains(&into) {
            return Err(SessionError::MergeSources);
        }

        let mut parents = Vec::with_capacity(sources.len());

        // For each parameter: the values that sources set, and the depth since which the target is
        // compared.
        let mut set: BTreeMap<String, (Vec<(BranchId, Value)>, u32)> = BTreeMap::new();
        let mut least = u32::MAX;
        for source in sources {
            let tip = self.open(*source)?.tip();
            parents.extend(tip);
            let parted = self.depth(self.common(tip, target));
            least = least.min(parted);

            for (name, (value, _)) in self.values_since(tip, parted) {
                let (values, since) = set.entry(name).or_insert((Vec::new(), parted));
                values.push((*source, value));
                *since = (*since).min(parted);
            }
        }

        // The target is only compared if a source has set something.
        let target = if set.is_empty() { None } else { target };
        for (name, (value, depth)) in self.values_since(target, least) {
            match set.get_mut(&name) {
                Some((values, since)) if depth > *since => values.insert(0, (into, value)),
                _ => {}
            }
        }

        let mut merged = Merged {
            sources: sources.to_vec(),
            parents,
            rule,
            values: BTreeMap::new(),
            conflicts: Vec::new(),
        };

        for (parameter, (set, _)) in set {
            let agreed = set
                .windows(2)
                .all(|pair| matches!(pair, [(_, a), (_, b)] if a == b));
            let (branches, values): (Vec<_>, Vec<_>) = set.into_iter().unzip();
            let mut taken = 0;

            if !agreed {
                let mut conflict = Conflict {
                    parameter: parameter.clone(),
                    branches,
                    values: values.clone(),
                    taken: None,
                };

                conflict.taken = decide(&conflict);
                taken = conflict
                    .branches
                    .iter()
                    .position(|b| Some(*b) == conflict.taken)
                    .unwrap_or(0);

                merged.conflicts.push(conflict);
            }

            merged.values.extend(
                values
                    .into_iter()
                    .nth(taken)
                    .map(|value| (parameter, value)),
            );
        }

        Ok(merged)
    }

    fn decided(&self, rule: ConflictRule, conflict: &Conflict) -> Option<BranchId> {
        let score = |branch: &BranchId| self.branch(*branch).ok()?.score;
        match rule {
            ConflictRule::KeepTarget => conflict.branches.first().copied(),
            ConflictRule::TakeSource => conflict.branches.last().copied(),
            ConflictRule::HighestScore => {
                let better = |best: BranchId, other: BranchId| {
                    if score(&other) > score(&best) {
                        other
                    } else {
                        best
                    }
                };
                conflict.branches.iter().copied().reduce(better)
            }
            ConflictRule::Refuse => None,
        }
    }
}
