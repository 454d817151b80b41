//! Adding thoughts to a session, and removing the last one. Everything is checked before the session
//! changes.

use serde_json::Value;

use super::thought::{Position, REVISES};
use super::{
    BranchId, BranchStatus, Session, SessionError, SessionLimit, Thought, ThoughtDraft, ThoughtId,
};
use crate::refusal::Move;
use crate::table::{Mistyped, ParameterType};
use crate::{Stage, Strategy};

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

    /// Removes the thought that was added last, on any branch, and returns it.
    ///
    /// The branch continues from the thought before it, and branches that the thought merged are
    /// open again. The expected numbers of thoughts, scores and the current branch stay as they are.
    ///
    /// ```
    /// use cogwork_strategies::StrategyName;
    /// use cogwork_strategies::session::{Session, ThoughtDraft};
    ///
    /// let mut session = Session::new(StrategyName::React);
    /// session.think(ThoughtDraft::at("initial_reasoning", "I must look."))?;
    /// session.think(ThoughtDraft::at("action_planning", "Here.").with("action", "look"))?;
    ///
    /// let removed = session.undo()?;
    /// assert_eq!(removed.text(), "Here.");
    /// assert_eq!(session.stage().name(), "initial_reasoning");
    /// # Ok::<(), cogwork_strategies::session::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the session has no thoughts, if a branch was forked from the thought, or
    /// if the branch of the thought was pruned.
    pub fn undo(&mut self) -> Result<Thought, SessionError> {
        let thought = self.thoughts.last().ok_or(SessionError::NothingToUndo)?;
        let from = Some(thought.id);
        if let Some(fork) = self.branches.iter().find(|branch| branch.from == from) {
            return Err(SessionError::Forked {
                thought: thought.id,
                branch: fork.name.clone(),
            });
        }

        let thought = thought.clone();
        if self.branch(thought.branch)?.status == BranchStatus::Pruned {
            self.open(thought.branch)?;
        }

        let branch = self.branch_mut(thought.branch)?;
        branch.own.pop();
        branch.status = BranchStatus::Open;
        for source in thought.merged.iter().flat_map(|merged| &merged.sources) {
            self.branch_mut(*source)?.status = BranchStatus::Open;
        }
        self.thoughts.pop();
        Ok(thought)
    }

    /// Adds the first thought of another strategy. A nested one begins in its start stage.
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

        let moving = Move {
            strategy: &strategy,
            from: self.stage_on(branch)?.name(),
            allowed: match outer {
                Some(_) => vec![strategy.start()],
                None => strategy.stages().iter().collect(),
            },
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
        let thought = self.checked(branch, &moving, to, position, true, draft)?;

        self.check_room()?;
        if is_new {
            self.strategies.push(strategy);
        }
        self.add(thought, draft)
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

        // After a final stage, the refusal of the strategy is more helpful than "not open".
        let is_over = position.outer.is_none() && self.stage_at(&position).is_final();
        if stage.is_none() || !is_over {
            self.open(branch)?;
        }

        let leading = match stage {
            None => &position,
            Some(_) => self.leading(&position),
        };
        let strategy = self.strategy_at(leading);
        let from = self.stage_at(leading);
        let moving = Move {
            strategy,
            from: from.name(),
            allowed: strategy.next(from).collect(),
        };

        let to = match stage {
            None => from,
            Some(stage) => moving.to(stage)?,
        };
        let next = Position {
            stage: to.name.clone(),
            ..leading.clone()
        };
        let needs_all = stage.is_some() || is_first;
        self.checked(branch, &moving, to, next, needs_all, draft)
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
        let mut parameters = draft.parameters.clone();
        let mut revises = draft.revises;
        if has_revision(to) {
            if let Some(revised) = revises {
                let parameter = parameters.entry(REVISES.to_owned());
                parameter.or_insert_with(|| revised.get().into());
            }
            revises = parameters.get(REVISES).and_then(thought_id).or(revises);
        }

        moving.check(to, &parameters, needs_all)?;
        for (name, value) in &parameters {
            let mut named = Vec::new();
            if let Some(parameter) = to.parameters().get(name) {
                parameter.kind().thoughts(value, &mut named);
            }
            for thought in named {
                self.existing(ThoughtId::new(thought))?;
            }
        }
        if let (Some(revised), Some(given)) = (draft.revises, revises)
            && revised != given
        {
            let fault = Mistyped::new(REVISES, format!("{revised}, which is revised"), given);
            return Err(moving.refusal(to.name(), vec![fault]).into());
        }

        let branch = self.branch(branch)?;
        if let Some(revised) = revises {
            self.existing(revised)?;
            if !self.path(branch.tip()).any(|thought| thought.id == revised) {
                return Err(SessionError::NotOnPath {
                    thought: revised,
                    branch: branch.name.clone(),
                });
            }
        }

        let is_end = position.outer.is_none() && to.is_final();
        let may_end = is_end || self.policy.allows_early_end;
        if !draft.next_thought_needed && !may_end {
            let outermost = match position.all().skip(1).last() {
                Some(outermost) => self.strategy_at(outermost),
                None => moving.strategy,
            };
            let finals = outermost.stages().iter().filter(|stage| stage.is_final());
            return Err(SessionError::EarlyEnd {
                finals: finals.map(|stage| stage.name.clone()).collect(),
                stage: position.stage,
            });
        }

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

    fn check_room(&self) -> Result<(), SessionError> {
        let most = self.policy.max_thoughts;
        if self.thoughts.len() < most {
            return Ok(());
        }

        let limit = SessionLimit::Thoughts;
        Err(SessionError::Full { limit, most })
    }

    /// Adds a checked thought if there is room for it.
    pub(super) fn add(
        &mut self,
        thought: Thought,
        draft: &ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        self.check_room()?;
        let is_end = thought.position.outer.is_none() && self.stage_of(&thought).is_final();
        let most = u32::try_from(self.policy.max_thoughts).unwrap_or(u32::MAX);

        let branch = self.branch_mut(thought.branch)?;
        let expected = draft.total_thoughts.unwrap_or(branch.total_thoughts);
        let more = u32::from(draft.needs_more_thoughts);
        branch.total_thoughts = expected.min(most).max(thought.number.saturating_add(more));
        branch.own.push(thought.id);
        if is_end || !draft.next_thought_needed {
            branch.status = BranchStatus::Complete;
        }

        let id = thought.id;
        self.thoughts.push(thought);
        Ok(id)
    }
}

/// Returns whether the stage has a parameter that names the revised thought.
fn has_revision(stage: &Stage) -> bool {
    let parameter = stage.parameters().get(REVISES);
    parameter.is_some_and(|parameter| *parameter.kind() == ParameterType::Thought)
}

fn thought_id(value: &Value) -> Option<ThoughtId> {
    let number = u32::try_from(value.as_u64()?).ok()?;
    Some(ThoughtId::new(number))
}
