//! Removing the last thought.

use super::{BranchStatus, Session, SessionError, Thought};

impl Session {
    /// Removes the thought that was added last, on any branch, and returns it.
    ///
    /// The branch continues from the thought before it, and branches that the thought merged are
    /// open again. The expected numbers of thoughts, scores and the current branch stay as they are.
    ///
    /// ```
    /// use cogwork_strategies::{Session, StrategyName, ThoughtDraft};
    ///
    /// let mut session = Session::new(StrategyName::React);
    /// session.think(ThoughtDraft::at("initial_reasoning", "I must look."))?;
    /// session.think(ThoughtDraft::at("action_planning", "Here.").with("action", "look"))?;
    ///
    /// let removed = session.undo()?;
    /// assert_eq!(removed.text(), "Here.");
    /// assert_eq!(session.stage().name(), "initial_reasoning");
    /// # Ok::<(), cogwork_strategies::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the session has no thoughts, if a branch was forked from the thought, or
    /// if the branch of the thought was pruned.
    pub fn undo(&mut self) -> Result<Thought, SessionError> {
        let thought = self.undoable()?.clone();
        self.thoughts.pop();

        for source in thought.merged.iter().flat_map(|merged| &merged.sources) {
            self.branch_mut(*source)?.status = BranchStatus::Open;
        }

        let branch = self.branch_mut(thought.branch)?;
        branch.own.pop();
        branch.status = BranchStatus::Open;
        self.drop_strategy(&thought);
        Ok(thought)
    }

    /// Drops the strategy that a thought has entered, unless another thought uses it.
    fn drop_strategy(&mut self, thought: &Thought) {
        let name = thought.strategy();
        let mut thoughts = self.thoughts.iter();
        let is_used = thoughts.any(|other| other.position.all().any(|at| at.strategy == name));
        if name != self.strategy && !is_used {
            self.strategies.retain(|strategy| strategy.name() != name);
        }
    }

    /// Returns the last thought if it can be removed.
    fn undoable(&self) -> Result<&Thought, SessionError> {
        let thought = self.thoughts.last().ok_or(SessionError::NothingToUndo)?;

        let from = Some(thought.id);
        if let Some(fork) = self.branches.iter().find(|branch| branch.from == from) {
            return Err(SessionError::Forked {
                thought: thought.id,
                branch: fork.name.clone(),
            });
        }

        if self.branch(thought.branch)?.status == BranchStatus::Pruned {
            self.open(thought.branch)?;
        }
        Ok(thought)
    }
}
