//! Adding thoughts to a session.

use super::check::Prepared;
use super::id::{BranchId, ThoughtId};
use super::place::Place;
use super::{
    BranchStatus, Completion, Session, SessionError, SessionLimit, Thought, ThoughtDraft,
    ThoughtKind,
};
use crate::Strategy;

impl Session {
    /// Adds a thought to the current branch.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`think_on`](Self::think_on).
    pub fn think(&mut self, draft: ThoughtDraft) -> Result<ThoughtId, SessionError> {
        self.think_on(self.current, draft)
    }

    /// Adds a thought to a branch, and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if
    ///
    /// - the branch doesn't exist or isn't open,
    /// - the strategy doesn't allow the move,
    /// - a parameter is missing, unknown or of the wrong type, or names a thought that doesn't
    ///   exist,
    /// - the revised thought isn't on the path of the branch,
    /// - the thought would end the branch early and the policy doesn't allow that, or
    /// - a [limit](super::SessionLimits) is reached.
    pub fn think_on(
        &mut self,
        branch: BranchId,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let prepared = self.prepare(branch, draft)?;
        self.add(prepared)
    }

    /// Switches a branch to a different strategy, with a thought that explains why.
    ///
    /// The thought is in the start stage of the new strategy, or in the stage that the draft names.
    /// Earlier thoughts are kept. If the branch is in a nested strategy, it leaves that one as
    /// well.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`think_on`](Self::think_on), if the session already
    /// has a different strategy of that name, or if it has 64 strategies.
    pub fn change_strategy(
        &mut self,
        branch: BranchId,
        strategy: impl Into<Strategy>,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let start = Place::start(strategy.into());
        let prepared = self.prepare_entry(branch, draft, start, ThoughtKind::Strategy)?;
        self.add(prepared)
    }

    /// Starts a nested strategy on a branch, in its start stage.
    ///
    /// Once the nested strategy has reached a final stage, the branch continues in the outer
    /// strategy, with a stage that may follow the one in which the nested strategy started.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`change_strategy`](Self::change_strategy), and if
    /// eight strategies are nested already.
    pub fn begin_part(
        &mut self,
        branch: BranchId,
        strategy: impl Into<Strategy>,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let start = self.part(branch, strategy.into())?;
        let prepared = self.prepare_entry(branch, draft, start, ThoughtKind::Part)?;
        self.add(prepared)
    }

    /// Adds a checked thought if there is room for it.
    pub(super) fn add(&mut self, prepared: Prepared) -> Result<ThoughtId, SessionError> {
        let most = self.policy.limits.thoughts;
        if self.thoughts.len() >= most {
            return Err(SessionError::Full {
                limit: SessionLimit::Thoughts,
                most,
            });
        }

        let total_thoughts = prepared.draft.total_thoughts;
        let more = u32::from(prepared.draft.needs_more_thoughts);
        let thought = self.made(prepared)?;
        self.keep_strategy(&thought);
        self.complete(&thought)?;

        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let branch = self.branch_mut(thought.branch)?;
        branch.own.push(thought.id);
        let expected = total_thoughts.unwrap_or(branch.total_thoughts);
        let least = thought.number.saturating_add(more);
        branch.total_thoughts = expected.min(most).max(least);

        if let Some(merged) = &thought.merged {
            self.close_merged(merged, thought.id, thought.branch);
        }

        let id = thought.id;
        self.thoughts.push(thought);
        Ok(id)
    }

    /// Returns the thought that is added to the end of its branch.
    fn made(&self, prepared: Prepared) -> Result<Thought, SessionError> {
        let branch = self.branch(prepared.branch)?;
        let parent = branch.tip();
        let draft = prepared.draft;
        let parameters = draft.parameters.into_iter();

        Ok(Thought {
            id: ThoughtId::at(self.thoughts.len()),
            branch: prepared.branch,
            number: branch.len().saturating_add(1),
            depth: self.depth(parent).saturating_add(1),
            parent,
            revises: draft.revises,
            kind: prepared.kind,
            next_thought_needed: draft.next_thought_needed,
            place: prepared.place,
            text: draft.thought.into(),
            parameters: parameters
                .map(|(name, value)| (name.into(), value))
                .collect(),
            merged: prepared.merged,
        })
    }

    /// Keeps the strategy of a thought if the session doesn't have it yet.
    fn keep_strategy(&mut self, thought: &Thought) {
        let strategy = thought.strategy();
        let is_known = |known: &Strategy| known.name() == strategy.name();
        if !self.strategies.iter().any(is_known) {
            self.strategies.push(strategy.clone());
        }
    }

    /// Completes the branch if the thought is its last.
    fn complete(&mut self, thought: &Thought) -> Result<(), SessionError> {
        let is_end = thought.place.is_end();
        if !is_end && thought.next_thought_needed {
            return Ok(());
        }

        self.completions.push(Completion {
            branch: thought.branch,
            thought: thought.id,
            early: !is_end,
        });
        self.branch_mut(thought.branch)?.status = BranchStatus::Complete;
        Ok(())
    }
}
