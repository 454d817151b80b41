//! Adding thoughts to a session. Everything is checked before the session changes.

use serde_json::Value;

use super::id::{BranchId, ThoughtId};
use super::thought::{Position, REVISES};
use super::{BranchStatus, Session, SessionError, SessionLimit, Thought, ThoughtDraft};
use crate::refusal::Move;
use crate::{Mistyped, Parameter, ParameterType, Stage, Strategy};

/// The maximum number of strategies nested in one another.
const MAX_PARTS: usize = 8;

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
    /// - a [limit](super::SessionPolicy) is reached.
    pub fn think_on(
        &mut self,
        branch: BranchId,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let thought = self.moved(branch, &draft)?;
        self.add(thought, &draft)
    }

    /// Switches a branch to a different strategy, with a thought that explains why.
    ///
    /// The thought is in the start stage of the new strategy, or in the stage that the draft names.
    /// Earlier thoughts are kept. If the branch is in a nested strategy, it leaves that one as
    /// well.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`think_on`](Self::think_on), and if the session
    /// already has a different strategy of that name.
    pub fn change_strategy(
        &mut self,
        branch: BranchId,
        strategy: impl Into<Strategy>,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        self.enter(branch, strategy.into(), None, &draft)
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
        let around = self.position(branch)?;
        if around.all().count() >= MAX_PARTS {
            return Err(SessionError::Full {
                limit: SessionLimit::Parts,
                most: MAX_PARTS,
            });
        }

        let outer = self.leading(&around).clone();
        self.enter(branch, strategy.into(), Some(outer), &draft)
    }

    /// Adds the first thought of another strategy. If it is refused, the session doesn't keep the
    /// strategy.
    fn enter(
        &mut self,
        branch: BranchId,
        strategy: Strategy,
        outer: Option<Position>,
        draft: &ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        self.open(branch)?;
        let known = self.strategies.find(strategy.name());
        if known.is_some_and(|known| *known != strategy) {
            return Err(SessionError::StrategyName {
                strategy: strategy.name().to_owned(),
            });
        }

        let is_new = known.is_none();
        if is_new {
            self.strategies.push(strategy.clone());
        }

        let added = self
            .entered(branch, &strategy, outer, draft)
            .and_then(|thought| self.add(thought, draft));
        if is_new && added.is_err() {
            self.strategies
                .retain(|known| known.name() != strategy.name());
        }
        added
    }

    /// Returns the thought that moves to another stage or stays in the current one.
    pub(super) fn moved(
        &self,
        branch: BranchId,
        draft: &ThoughtDraft,
    ) -> Result<Thought, SessionError> {
        let position = self.position(branch)?;
        let is_first = self.branch(branch)?.tip().is_none();

        // The first thought may name the start stage, and still stays there.
        let stage = draft.stage.as_deref();
        let stage = stage.filter(|stage| !(is_first && *stage == position.stage));
        let Some(stage) = stage else {
            self.open(branch)?;
            let moving = self.moving(&position);
            let to = self.stage_at(&position);
            return self.checked(branch, &moving, to, position.clone(), is_first, draft);
        };

        // After a final stage, the refusal of the strategy is more helpful than "not open".
        if !self.is_end(&position) {
            self.open(branch)?;
        }

        let leading = self.leading(&position);
        let moving = self.moving(leading);
        let to = moving.to(stage)?;
        let position = Position {
            stage: to.name.clone(),
            ..leading.clone()
        };
        self.checked(branch, &moving, to, position, true, draft)
    }

    /// Returns the first thought of another strategy. A nested one begins in its start stage.
    fn entered(
        &self,
        branch: BranchId,
        strategy: &Strategy,
        outer: Option<Position>,
        draft: &ThoughtDraft,
    ) -> Result<Thought, SessionError> {
        let allowed = match outer {
            Some(_) => vec![strategy.start()],
            None => strategy.stages().iter().collect(),
        };
        let moving = Move {
            strategy,
            from: self.stage_on(branch)?.name(),
            allowed,
        };
        let to = match draft.stage.as_deref() {
            None => strategy.start(),
            Some(name) => moving.to(name)?,
        };

        let position = Position {
            strategy: strategy.name().to_owned(),
            stage: to.name.clone(),
            outer: outer.map(Box::new),
        };
        self.checked(branch, &moving, to, position, true, draft)
    }

    fn moving(&self, position: &Position) -> Move<'_> {
        let strategy = self.strategy_at(position);
        let from = self.stage_at(position);
        Move {
            strategy,
            from: from.name(),
            allowed: strategy.next(from).collect(),
        }
    }

    /// Checks everything but the move to `position`, and returns the thought. Only a thought that
    /// stays in its stage doesn't need all parameters.
    fn checked(
        &self,
        branch: BranchId,
        moving: &Move<'_>,
        to: &Stage,
        position: Position,
        needs_all: bool,
        draft: &ThoughtDraft,
    ) -> Result<Thought, SessionError> {
        let branch = self.branch(branch)?;
        let mut parameters = draft.parameters.clone();
        if let Some(revised) = draft.revises.filter(|_| has_revision(to)) {
            let parameter = parameters.entry(REVISES.to_owned());
            parameter.or_insert_with(|| revised.get().into());
        }

        moving.check(to, &parameters, needs_all)?;

        for (name, value) in &parameters {
            let mut named = Vec::new();
            let parameter = to.parameters().get(name).map(Parameter::kind);
            parameter.inspect(|kind| kind.thoughts(value, &mut named));
            for thought in named {
                self.existing(ThoughtId::new(thought))?;
            }
        }

        let given = parameters.get(REVISES).filter(|_| has_revision(to));
        let given = given.and_then(thought_id);
        if let (Some(revised), Some(given)) = (draft.revises, given)
            && revised != given
        {
            let fault = Mistyped::new(REVISES, format!("{revised}, which is revised"), given);
            return Err(moving.mistyped(to, fault).into());
        }

        let revises = given.or(draft.revises);
        self.check_revised(revises, branch.id)?;
        self.check_end(draft, &position)?;
        Ok(Thought {
            id: ThoughtId::at(self.thoughts.len()),
            branch: branch.id,
            number: branch.len().saturating_add(1),
            parent: branch.tip(),
            position,
            text: draft.thought.clone(),
            revises,
            next_thought_needed: draft.next_thought_needed,
            parameters,
            merged: None,
        })
    }

    /// Checks that the revised thought is on the path of the branch.
    fn check_revised(
        &self,
        revised: Option<ThoughtId>,
        branch: BranchId,
    ) -> Result<(), SessionError> {
        let Some(revised) = revised else {
            return Ok(());
        };

        let branch = self.branch(branch)?;
        let revised = self.existing(revised)?.id;
        if self.path(branch.tip()).any(|thought| thought.id == revised) {
            return Ok(());
        }

        Err(SessionError::NotOnPath {
            thought: revised,
            branch: branch.name.clone(),
        })
    }

    /// Checks that the thought may end its branch, if it does.
    fn check_end(&self, draft: &ThoughtDraft, position: &Position) -> Result<(), SessionError> {
        let is_early = !draft.next_thought_needed && !self.is_end(position);
        if !is_early || self.policy.allows_early_end {
            return Ok(());
        }

        let outermost = position.all().last().unwrap_or(position);
        let stages = self.strategy_at(outermost).stages().iter();
        let finals = stages.filter(|stage| stage.is_final());
        Err(SessionError::EarlyEnd {
            stage: position.stage.clone(),
            finals: finals.map(|stage| stage.name.clone()).collect(),
        })
    }

    /// Returns whether the strategy and all outer ones have ended.
    fn is_end(&self, position: &Position) -> bool {
        position.outer.is_none() && self.stage_at(position).is_final()
    }

    /// Adds a checked thought if there is room for it.
    pub(super) fn add(
        &mut self,
        thought: Thought,
        draft: &ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let most = self.policy.max_thoughts;
        if self.thoughts.len() >= most {
            return Err(SessionError::Full {
                limit: SessionLimit::Thoughts,
                most,
            });
        }

        let has_ended = self.is_end(&thought.position) || !draft.next_thought_needed;
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let branch = self.branch_mut(thought.branch)?;
        let expected = draft.total_thoughts.unwrap_or(branch.total_thoughts);
        let least = thought
            .number
            .saturating_add(draft.needs_more_thoughts.into());

        branch.own.push(thought.id);
        branch.total_thoughts = expected.min(most).max(least);
        if has_ended {
            branch.status = BranchStatus::Complete;
        }

        let id = thought.id;
        self.thoughts.push(thought);
        Ok(id)
    }
}

/// Returns whether the stage has a parameter that names the revised thought.
fn has_revision(stage: &Stage) -> bool {
    let parameter = stage.parameters().get(REVISES).map(Parameter::kind);
    parameter == Some(&ParameterType::Thought)
}

fn thought_id(value: &Value) -> Option<ThoughtId> {
    let number = u32::try_from(value.as_u64()?).ok()?;
    Some(ThoughtId::new(number))
}
