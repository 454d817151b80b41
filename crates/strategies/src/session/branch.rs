//! Branches: forked, switched between, scored, selected, pruned.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Session, SessionError, SessionLimit, ThoughtId};

/// A branch of a session, by the order in which branches were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchId(pub(super) u32);

impl BranchId {
    /// The branch that a session begins with, named `main`.
    pub const MAIN: Self = Self(0);

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for BranchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A branch: a line of thoughts with a numbering of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    pub(super) id: BranchId,
    pub(super) name: String,
    pub(super) from: Option<ThoughtId>,
    /// Its own thoughts, in order.
    pub(super) own: Vec<ThoughtId>,
    pub(super) total_thoughts: u32,
    pub(super) score: Option<f64>,
    pub(super) status: BranchStatus,
}

/// What became of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BranchStatus {
    /// It takes thoughts.
    Open,
    /// It has ended, in a final stage or early.
    Complete,
    /// A thought of another branch took it in.
    Merged(ThoughtId),
    /// It was given up.
    Pruned,
}

impl fmt::Display for BranchStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::Complete => f.write_str("complete"),
            Self::Merged(into) => write!(f, "merged into thought {into}"),
            Self::Pruned => f.write_str("pruned"),
        }
    }
}

impl Branch {
    /// Its number.
    pub fn id(&self) -> BranchId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The thought it was forked from; `None` for `main`.
    pub fn forked_from(&self) -> Option<ThoughtId> {
        self.from
    }

    /// Its last thought; where it has none of its own yet, the one it was forked from.
    pub fn tip(&self) -> Option<ThoughtId> {
        self.own.last().copied().or(self.from)
    }

    /// Its own thoughts, in order: the first has the number 1 on the branch.
    pub fn own(&self) -> &[ThoughtId] {
        &self.own
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.own.len()).unwrap_or(u32::MAX)
    }

    /// How many thoughts of its own it is expected to have. It rises with the thoughts, and by request
    /// of a [`ThoughtDraft`](super::ThoughtDraft); a fork begins with what its origin had left.
    pub fn total_thoughts(&self) -> u32 {
        self.total_thoughts
    }

    /// Its score, from 0 to 10, if it was given one.
    pub fn score(&self) -> Option<f64> {
        self.score
    }

    /// What became of it.
    pub fn status(&self) -> BranchStatus {
        self.status
    }
}

impl Session {
    /// Begins a branch after any thought, with the stage of that thought. The current branch stays the
    /// current one.
    ///
    /// # Errors
    ///
    /// When the thought is not there or was forgotten, the name is taken, empty or longer than 64
    /// characters, or there are as many branches as may be.
    pub fn fork(
        &mut self,
        from: ThoughtId,
        name: impl Into<String>,
    ) -> Result<BranchId, SessionError> {
        if self.existing(from)?.is_forgotten() {
            return Err(SessionError::Forgotten { thought: from });
        }
        self.fork_from(from, name.into())
    }

    pub(super) fn fork_from(
        &mut self,
        from: ThoughtId,
        name: String,
    ) -> Result<BranchId, SessionError> {
        let thought = self.existing(from)?;
        let origin = self.branch(thought.branch)?;
        let total_thoughts = origin.total_thoughts.saturating_sub(thought.number).max(1);

        if name.trim().is_empty() || name.chars().count() > 64 || self.branch_named(&name).is_some()
        {
            return Err(SessionError::BranchName { name });
        }

        let most = self.policy.limits.branches;
        if self.branches.len() >= most {
            return Err(SessionError::Full {
                limit: SessionLimit::Branches,
                most,
            });
        }

        let id = BranchId(u32::try_from(self.branches.len()).unwrap_or(u32::MAX));
        self.by_name.insert(name.clone(), id);
        self.branches.push(Branch {
            id,
            name,
            from: Some(from),
            own: Vec::new(),
            total_thoughts,
            score: None,
            status: BranchStatus::Open,
        });

        Ok(id)
    }

    /// Makes a branch the current one, on which [`think`](Self::think) goes on.
    ///
    /// # Errors
    ///
    /// When it is not there, or was merged or pruned.
    pub fn switch(&mut self, branch: BranchId) -> Result<(), SessionError> {
        self.in_use(branch)?;
        self.current = branch;
        Ok(())
    }

    /// Says how promising a branch is, from 0 to 10. The last score counts.
    ///
    /// # Errors
    ///
    /// When the branch is not there, or was merged or pruned, or the score is out of range.
    pub fn score(&mut self, branch: BranchId, score: f64) -> Result<(), SessionError> {
        self.in_use(branch)?;
        if !(0.0..=10.0).contains(&score) {
            return Err(SessionError::Score);
        }

        self.branch_mut(branch)?.score = Some(score);
        Ok(())
    }

    /// The branches with the highest scores, the best first, at most `count`; of equals the older one.
    /// Only open and complete branches with a score.
    pub fn best(&self, count: usize) -> Vec<&Branch> {
        let usable =
            |branch: &&Branch| matches!(branch.status, BranchStatus::Open | BranchStatus::Complete);
        let scored = self
            .branches
            .iter()
            .filter(usable)
            .filter_map(|branch| Some((branch.score?, branch)));

        let mut scored: Vec<_> = scored.collect();
        scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        scored
            .into_iter()
            .take(count)
            .map(|(_, branch)| branch)
            .collect()
    }

    /// Switches to the branch with the highest score, of equals to the oldest. The others stay as they
    /// are: prune those that are given up.
    ///
    /// # Errors
    ///
    /// When no open or complete branch has a score.
    pub fn select_best(&mut self) -> Result<BranchId, SessionError> {
        let best = self
            .best(1)
            .first()
            .map(|branch| branch.id)
            .ok_or(SessionError::NothingScored)?;

        self.current = best;
        Ok(best)
    }

    /// Gives a branch up. Its thoughts can still be read and forked from, until they are forgotten to
    /// make room, if the policy says so. Branches that were forked from it live on.
    ///
    /// # Errors
    ///
    /// When it is not there, is the current one, or is not open.
    pub fn prune(&mut self, branch: BranchId) -> Result<(), SessionError> {
        self.open(branch)?;
        if branch == self.current {
            return Err(SessionError::CurrentBranch {
                branch: self.branch(branch)?.name.clone(),
            });
        }

        self.branch_mut(branch)?.status = BranchStatus::Pruned;
        self.may_forget = true;
        Ok(())
    }

    /// All branches, in the order in which they were made.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// A branch.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub fn branch(&self, branch: BranchId) -> Result<&Branch, SessionError> {
        let missing = SessionError::NoSuchBranch {
            branch,
            branches: self.branches.len(),
        };
        self.index(branch)
            .and_then(|index| self.branches.get(index))
            .ok_or(missing)
    }

    /// The branch of this name.
    pub fn branch_named(&self, name: &str) -> Option<&Branch> {
        self.by_name
            .get(name)
            .and_then(|branch| self.branch(*branch).ok())
    }

    pub(super) fn branch_mut(&mut self, branch: BranchId) -> Result<&mut Branch, SessionError> {
        let missing = SessionError::NoSuchBranch {
            branch,
            branches: self.branches.len(),
        };
        self.index(branch)
            .and_then(|index| self.branches.get_mut(index))
            .ok_or(missing)
    }

    fn index(&self, branch: BranchId) -> Option<usize> {
        usize::try_from(branch.0).ok()
    }

    pub(super) fn open(&self, branch: BranchId) -> Result<&Branch, SessionError> {
        match self.branch(branch)? {
            branch @ Branch {
                status: BranchStatus::Open,
                ..
            } => Ok(branch),
            Branch { name, status, .. } => Err(SessionError::BranchClosed {
                branch: name.clone(),
                status: *status,
            }),
        }
    }

    /// Open or complete.
    fn in_use(&self, branch: BranchId) -> Result<(), SessionError> {
        match self.branch(branch)?.status {
            BranchStatus::Complete => Ok(()),
            _ => self.open(branch).map(drop),
        }
    }
}
