//! Forking, switching, scoring, selecting and pruning branches.

use cogwork_text::Name;

use super::{Branch, BranchId, BranchStatus, Session, SessionError, ThoughtId};

/// The maximum length of the name of a branch, in characters.
const MAX_NAME: usize = 64;

impl Session {
    /// Creates a branch that continues from `from`, in the stage of that thought, and returns its
    /// id.
    ///
    /// The current branch doesn't change.
    ///
    /// # Errors
    ///
    /// Returns an error if the thought doesn't exist, if the name is empty, longer than 64 characters
    /// or already in use, or if the session has [`MAX_BRANCHES`](Self::MAX_BRANCHES).
    pub fn fork(
        &mut self,
        from: ThoughtId,
        name: impl Into<String>,
    ) -> Result<BranchId, SessionError> {
        let name = name.into();
        // Any thought can be forked from, also one of a branch that is closed.
        self.existing(from)?;

        let is_too_long = name.chars().count() > MAX_NAME;
        if name.trim().is_empty() || is_too_long || self.branch_named(&name).is_some() {
            let name = Name(&name);
            return Err(SessionError::Refused(format!(
                "`{name}` cannot be the name of a branch; expected 1 to 64 characters that no branch has yet"
            )));
        }

        let most = Self::MAX_BRANCHES;
        if self.branches.len() >= most {
            let limit = format!("{most} branches");
            return Err(SessionError::Full(limit));
        }

        let id = BranchId(self.branches.len());
        self.branches.push(Branch::new(id, name, Some(from)));
        Ok(id)
    }

    /// Makes `branch` the current one, to which [`think`](Self::think) adds thoughts.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist, or was merged or pruned.
    pub fn switch(&mut self, branch: BranchId) -> Result<(), SessionError> {
        self.check_in_use(branch)?;
        self.current = branch;
        Ok(())
    }

    /// Sets the score of a branch, from 0 to 10. It replaces an earlier score.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist, was merged or pruned, or if the score is out
    /// of range.
    pub fn score(&mut self, branch: BranchId, score: f64) -> Result<(), SessionError> {
        self.check_in_use(branch)?;
        if !(0.0..=10.0).contains(&score) {
            return Err(SessionError::Refused(
                "a score is a number from 0 to 10".to_owned(),
            ));
        }

        self.branch_mut(branch)?.score = Some(score);
        Ok(())
    }

    /// Switches to the branch with the highest score, the oldest if there are several, and returns
    /// its id.
    ///
    /// The other branches stay open. Use [`prune`](Self::prune) to abandon them.
    ///
    /// # Errors
    ///
    /// Returns an error if no open or complete branch has a score.
    pub fn select_best(&mut self) -> Result<BranchId, SessionError> {
        let in_use = self.branches.iter().filter(|branch| branch.is_in_use());
        let scored = in_use.filter_map(|branch| Some((branch.score?, branch.id)));
        // Of equal scores the last one wins, which is the oldest branch from behind.
        let best = scored.rev().max_by(|(a, _), (b, _)| a.total_cmp(b));
        let (_, best) = best.ok_or_else(|| {
            let message = "no open or complete branch has a score; expected at least one";
            SessionError::Refused(message.to_owned())
        })?;

        self.current = best;
        Ok(best)
    }

    /// Abandons a branch.
    ///
    /// Its thoughts can still be read and forked from. Forks of the branch aren't affected.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist, isn't open, or is the current one.
    pub fn prune(&mut self, branch: BranchId) -> Result<(), SessionError> {
        self.open(branch)?;
        // The next thought would have nowhere to go.
        if branch == self.current {
            let name = Name(&self.branch(branch)?.name);
            return Err(SessionError::Refused(format!(
                "the branch `{name}` is the current one; switch to a different one first"
            )));
        }

        self.branch_mut(branch)?.status = BranchStatus::Pruned;
        Ok(())
    }

    /// Returns all branches in the order of creation.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// Returns the branch with this id.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist.
    pub fn branch(&self, branch: BranchId) -> Result<&Branch, SessionError> {
        let missing = self.no_such_branch(branch);
        self.branches.get(branch.0).ok_or(missing)
    }

    /// Returns the branch with this name.
    pub fn branch_named(&self, name: &str) -> Option<&Branch> {
        self.branches.iter().find(|branch| branch.name == name)
    }

    pub(super) fn branch_mut(&mut self, branch: BranchId) -> Result<&mut Branch, SessionError> {
        let missing = self.no_such_branch(branch);
        self.branches.get_mut(branch.0).ok_or(missing)
    }

    fn no_such_branch(&self, branch: BranchId) -> SessionError {
        let last = self.branches.len().saturating_sub(1);
        SessionError::Refused(format!(
            "there is no branch {branch}; expected a number from 0 to {last}"
        ))
    }

    /// Returns the branch if it is open.
    pub(super) fn open(&self, branch: BranchId) -> Result<&Branch, SessionError> {
        let branch = self.branch(branch)?;
        if branch.status == BranchStatus::Open {
            return Ok(branch);
        }

        let (name, status) = (Name(&branch.name), branch.status);
        Err(SessionError::Refused(format!(
            "the branch `{name}` is {status}; expected an open one"
        )))
    }

    pub(super) fn check_in_use(&self, branch: BranchId) -> Result<(), SessionError> {
        if self.branch(branch)?.is_in_use() {
            return Ok(());
        }
        // Its error says what the branch is instead.
        self.open(branch).map(drop)
    }
}
