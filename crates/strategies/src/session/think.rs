//! Adding thoughts: first all checks, over a session that stays as it is, then the change.

use std::sync::Arc;

use super::merge::Merged;
use super::place::Place;
use super::{
    BranchId, BranchStatus, Completion, EndRule, Session, SessionError, SessionLimit,
    SessionLimits, Thought, ThoughtDraft, ThoughtId, ThoughtKind, room,
};
use crate::refusal::{Entry, Refuse};
use crate::{Mistyped, Parameter, ParameterType, Strategy};

/// The parameter that says of a thought which one it revises, in stages that have it.
pub(crate) const REVISES: &str = "revises_thought";

/// Strategies in one session.
const MAX_STRATEGIES: usize = 64;

/// Strategies around one another.
const MAX_PARTS: usize = 8;

/// A thought that was checked and has only to be added.
pub(super) struct Prepared {
    pub(super) branch: BranchId,
    pub(super) draft: ThoughtDraft,
    pub(super) place: Place,
    pub(super) kind: ThoughtKind,
    pub(super) merged: Option<Box<Merged>>,
    pub(super) forgotten: bool,
}

impl Session {
    /// Adds a thought to the current branch.
    ///
    /// # Errors
    ///
    /// As [`think_on`](Self::think_on).
    pub fn think(&mut self, draft: ThoughtDraft) -> Result<ThoughtId, SessionError> {
        self.think_on(self.current, draft)
    }

    /// Adds a thought to a branch.
    ///
    /// # Errors
    ///
    /// When the branch is not there or not open, the strategy does not allow the move, a parameter is
    /// missing, of another type or not known, a thought is named that is not there, the one to revise is
    /// not on the path of the branch, the branch would end early and may not, or there is no room.
    pub fn think_on(
        &mut self,
        branch: BranchId,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let prepared = self.prepare(branch, draft)?;
        self.add(prepared)
    }

    /// Changes the strategy of a branch, with a thought that says why. It stands in the start stage of the
    /// new one, or in the stage that the draft names. What was thought so far stays; parts that the branch
    /// was in are left.
    ///
    /// # Errors
    ///
    /// As [`think_on`](Self::think_on), and when the session has another strategy under that name, or 64
    /// of them already.
    pub fn change_strategy(
        &mut self,
        branch: BranchId,
        strategy: impl Into<Strategy>,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let start = Place::start(strategy.into());
        self.enter(branch, start, draft, ThoughtKind::Strategy)
    }

    /// Begins another strategy as a part of the one that a branch is in, in its start stage. When the part
    /// has reached a final stage, the next move is one that the strategy around it allows from the stage
    /// where the part began.
    ///
    /// # Errors
    ///
    /// As [`change_strategy`](Self::change_strategy), and when eight strategies are around one another.
    pub fn begin_part(
        &mut self,
        branch: BranchId,
        strategy: impl Into<Strategy>,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        let start = self.part(branch, strategy.into())?;
        self.enter(branch, start, draft, ThoughtKind::Part)
    }

    /// Where a part begins.
    pub(super) fn part(&self, branch: BranchId, strategy: Strategy) -> Result<Place, SessionError> {
        let around = self.place(branch)?;
        if around.depth() + 1 >= MAX_PARTS {
            return Err(SessionError::Full {
                limit: SessionLimit::Parts,
                most: MAX_PARTS,
            });
        }

        let outer = Some(Arc::new(around.leading().clone()));
        Ok(Place {
            outer,
            ..Place::start(strategy)
        })
    }

    fn enter(
        &mut self,
        branch: BranchId,
        start: Place,
        draft: ThoughtDraft,
        kind: ThoughtKind,
    ) -> Result<ThoughtId, SessionError> {
        let prepared = self.prepare_entry(branch, start, draft, kind, false)?;
        self.add(prepared)
    }

    /// Checks the first thought of another strategy.
    pub(super) fn prepare_entry(
        &self,
        branch: BranchId,
        start: Place,
        draft: ThoughtDraft,
        kind: ThoughtKind,
        forgotten: bool,
    ) -> Result<Prepared, SessionError> {
        self.open(branch)?;
        let strategy = &start.strategy;
        match self
            .strategies
            .iter()
            .find(|known| known.name() == strategy.name())
        {
            Some(known) if known != strategy => {
                return Err(SessionError::StrategyName {
                    strategy: strategy.name().to_owned(),
                });
            }
            None if self.strategies.len() >= MAX_STRATEGIES => {
                return Err(SessionError::Full {
                    limit: SessionLimit::Strategies,
                    most: MAX_STRATEGIES,
                });
            }
            _ => {}
        }

        let entry = Entry {
            from: self.stage_on(branch)?,
            into: strategy,
            anywhere: kind == ThoughtKind::Strategy,
        };

        let stage = match draft.stage.as_deref() {
            None => start.stage,
            Some(name) => entry.next(name)?.index,
        };
        self.check(
            branch,
            draft,
            &entry,
            Place {
                stage,
                ..start.clone()
            },
            kind,
            forgotten,
        )
    }

    /// Checks a thought that moves or stays.
    pub(super) fn prepare(
        &self,
        branch: BranchId,
        draft: ThoughtDraft,
    ) -> Result<Prepared, SessionError> {
        self.prepare_known(branch, draft, false)
    }

    pub(super) fn prepare_known(
        &self,
        branch: BranchId,
        draft: ThoughtDraft,
        forgotten: bool,
    ) -> Result<Prepared, SessionError> {
        let from = self.place(branch)?;
        let begins = self.branch(branch)?.tip().is_none();
        let moves_to = draft
            .stage
            .as_deref()
            .filter(|stage| !(begins && *stage == from.stage().name()));
        let Some(stage) = moves_to else {
            self.open(branch)?;
            return self.check(
                branch,
                draft,
                &from.standing(),
                from.clone(),
                ThoughtKind::Stay,
                forgotten,
            );
        };

        // Behind a final stage the strategy itself refuses, and says that nothing follows.
        if !from.is_end() {
            self.open(branch)?;
        }

        let place = from.next(stage)?;
        self.check(
            branch,
            draft,
            &from.leading().standing(),
            place,
            ThoughtKind::Move,
            forgotten,
        )
    }

    /// Checks everything but the way to the stage.
    fn check(
        &self,
        branch: BranchId,
        mut draft: ThoughtDraft,
        standing: &impl Refuse,
        place: Place,
        kind: ThoughtKind,
        forgotten: bool,
    ) -> Result<Prepared, SessionError> {
        let stage = place.stage();
        let line = self.branch(branch)?;
        let tip = line.tip();
        let revising = stage
            .parameters()
            .get(REVISES)
            .is_some_and(|p| *p.kind() == ParameterType::Thought);

        if let (true, Some(revised), false) = (revising, draft.revises, forgotten) {
            draft
                .parameters
                .entry(REVISES.to_owned())
                .or_insert_with(|| revised.get().into());
        }

        let entering = !forgotten && (kind != ThoughtKind::Stay || tip.is_none());
        standing.check(stage, &draft.parameters, entering)?;
        let mut named = Vec::new();

        for (name, value) in &draft.parameters {
            let kind = stage.parameters().get(name).map(Parameter::kind);
            kind.into_iter()
                .for_each(|kind| kind.thoughts(value, &mut named));
        }

        for thought in named {
            self.existing(ThoughtId::new(thought))?;
        }

        if let (true, Some(given)) = (revising, draft.parameters.get(REVISES)) {
            let given = given
                .as_u64()
                .and_then(|number| u32::try_from(number).ok())
                .map(ThoughtId::new);
            if let (Some(revised), Some(given)) = (draft.revises, given)
                && revised != given
            {
                let fault =
                    Mistyped::new(REVISES, format_args!("{revised}, which is revised"), given);
                return Err(standing.mistyped(stage, fault).into());
            }

            draft.revises = given;
        }

        if let Some(revised) = draft.revises
            && !self.is_on_path(self.existing(revised)?, tip)
        {
            return Err(SessionError::NotOnPath {
                thought: revised,
                branch: line.name.clone(),
            });
        }

        let early = !draft.next_thought_needed && !place.is_end();
        if early && self.policy.early_end == EndRule::Refuse {
            let finals = place
                .outermost()
                .strategy
                .stages()
                .iter()
                .filter(|stage| stage.is_final());
            return Err(SessionError::EarlyEnd {
                stage: stage.name().to_owned(),
                finals: finals.map(|stage| stage.name().to_owned()).collect(),
            });
        }

        Ok(Prepared {
            branch,
            draft,
            place,
            kind,
            merged: None,
            forgotten,
        })
    }

    /// Adds a thought if there is room.
    pub(super) fn add(&mut self, prepared: Prepared) -> Result<ThoughtId, SessionError> {
        let Prepared {
            branch,
            draft,
            place,
            kind,
            merged,
            forgotten,
        } = prepared;

        let SessionLimits { thoughts: most, .. } = self.policy.limits;
        if self.thoughts.len() >= most {
            return Err(SessionError::Full {
                limit: SessionLimit::Thoughts,
                most,
            });
        }

        let line = self.branch(branch)?;
        let tip = line.tip();
        let id = ThoughtId::at(self.thoughts.len());
        let thought = Thought {
            id,
            branch,
            number: line.len().saturating_add(1),
            depth: self.depth(tip).saturating_add(1),
            parent: tip,
            revises: draft.revises,
            kind,
            next_thought_needed: draft.next_thought_needed,
            forgotten,
            place,
            text: draft.thought.into(),
            parameters: draft
                .parameters
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
            merged,
        };

        let bytes = room::bytes(&thought);
        self.make_room(bytes)?;

        self.bytes = self.bytes.saturating_add(bytes);
        if !self
            .strategies
            .iter()
            .any(|known| known.name() == thought.place.strategy.name())
        {
            self.strategies.push(thought.place.strategy.clone());
        }

        let end = thought.place.is_end();
        if end || !thought.next_thought_needed {
            self.completions.push(Completion {
                branch,
                thought: id,
                early: !end,
            });
        }

        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let line = self.branch_mut(branch)?;
        line.own.push(id);
        let expected = draft.total_thoughts.unwrap_or(line.total_thoughts);
        let least = thought
            .number
            .saturating_add(u32::from(draft.needs_more_thoughts));

        line.total_thoughts = expected.min(most).max(least);
        if end || !thought.next_thought_needed {
            line.status = BranchStatus::Complete;
        }

        if let Some(merged) = &thought.merged {
            self.close_merged(merged, id, branch);
        }

        self.thoughts.push(thought);
        Ok(id)
    }

    /// Where a branch stands.
    fn place(&self, branch: BranchId) -> Result<Place, SessionError> {
        let tip = self.branch(branch)?.tip().and_then(|tip| self.thought(tip));
        Ok(match tip {
            Some(thought) => thought.place.clone(),
            None => Place::start(self.strategy().clone()),
        })
    }
}
