//! Checks thoughts before they are added. A check never changes the session.

use std::sync::Arc;

use serde_json::Value;

use super::id::{BranchId, ThoughtId};
use super::merged::Merged;
use super::place::Place;
use super::thought::REVISES;
use super::{Branch, EndRule, Session, SessionError, SessionLimit, ThoughtDraft, ThoughtKind};
use crate::refusal::{Entry, Refuse};
use crate::{Mistyped, Parameter, ParameterType, Stage, Strategy};

/// The maximum number of strategies in one session.
const MAX_STRATEGIES: usize = 64;

/// The maximum number of strategies nested in one another.
const MAX_PARTS: usize = 8;

/// A thought that has passed all checks.
pub(super) struct Prepared {
    pub(super) branch: BranchId,
    pub(super) draft: ThoughtDraft,
    pub(super) place: Place,
    pub(super) kind: ThoughtKind,
    pub(super) merged: Option<Box<Merged>>,
}

impl Session {
    /// Checks a thought that moves to another stage or stays in the current one.
    pub(super) fn prepare(
        &self,
        branch: BranchId,
        draft: ThoughtDraft,
    ) -> Result<Prepared, SessionError> {
        let from = self.place(branch)?;
        let is_first = self.branch(branch)?.tip().is_none();

        // The first thought may name the start stage, and still stays there.
        let stage = draft.stage.as_deref();
        let stage = stage.filter(|stage| !(is_first && *stage == from.stage().name()));
        let Some(stage) = stage else {
            self.open(branch)?;
            let standing = from.standing();
            return self.check(branch, draft, &standing, from.clone(), ThoughtKind::Stay);
        };

        // After a final stage, the refusal of the strategy is more helpful than "not open".
        if !from.is_end() {
            self.open(branch)?;
        }

        let place = from.next(stage)?;
        let standing = from.leading().standing();
        self.check(branch, draft, &standing, place, ThoughtKind::Move)
    }

    /// Checks the first thought of another strategy, which begins at `start`.
    pub(super) fn prepare_entry(
        &self,
        branch: BranchId,
        draft: ThoughtDraft,
        start: Place,
        kind: ThoughtKind,
    ) -> Result<Prepared, SessionError> {
        self.open(branch)?;
        self.check_strategy(&start.strategy)?;

        let entry = Entry {
            from: self.stage_on(branch)?,
            into: &start.strategy,
            anywhere: kind == ThoughtKind::Strategy,
        };
        let stage = match draft.stage.as_deref() {
            None => start.stage,
            Some(name) => entry.next(name)?.index,
        };

        let place = Place {
            stage,
            ..start.clone()
        };
        self.check(branch, draft, &entry, place, kind)
    }

    /// Returns the place where a part begins on a branch.
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

    /// Returns the place of the last thought on a branch.
    fn place(&self, branch: BranchId) -> Result<Place, SessionError> {
        let tip = self.branch(branch)?.tip().and_then(|tip| self.thought(tip));
        Ok(match tip {
            Some(thought) => thought.place.clone(),
            None => Place::start(self.strategy().clone()),
        })
    }

    /// Checks that the session can hold a strategy.
    fn check_strategy(&self, strategy: &Strategy) -> Result<(), SessionError> {
        let mut strategies = self.strategies.iter();
        match strategies.find(|known| known.name() == strategy.name()) {
            Some(known) if known != strategy => Err(SessionError::StrategyName {
                strategy: strategy.name().to_owned(),
            }),
            None if self.strategies.len() >= MAX_STRATEGIES => Err(SessionError::Full {
                limit: SessionLimit::Strategies,
                most: MAX_STRATEGIES,
            }),
            _ => Ok(()),
        }
    }

    /// Checks everything but the move to `place`.
    fn check(
        &self,
        branch_id: BranchId,
        draft: ThoughtDraft,
        standing: &impl Refuse,
        place: Place,
        kind: ThoughtKind,
    ) -> Result<Prepared, SessionError> {
        let stage = place.stage();
        let branch = self.branch(branch_id)?;
        let draft = with_revision(draft, stage);

        let is_entering = kind != ThoughtKind::Stay || branch.tip().is_none();
        if is_entering {
            standing.check(stage, &draft.parameters)?;
        } else {
            standing.check_given(stage, &draft.parameters)?;
        }

        self.check_named(stage, &draft)?;
        let revises = revised(stage, &draft, standing)?;
        self.check_revised(revises, branch)?;
        self.check_end(&draft, &place)?;

        Ok(Prepared {
            branch: branch_id,
            draft: ThoughtDraft { revises, ..draft },
            place,
            kind,
            merged: None,
        })
    }

    /// Checks that the thoughts that parameters name exist.
    fn check_named(&self, stage: &Stage, draft: &ThoughtDraft) -> Result<(), SessionError> {
        let mut named = Vec::new();
        for (name, value) in &draft.parameters {
            if let Some(parameter) = stage.parameters().get(name) {
                parameter.kind().thoughts(value, &mut named);
            }
        }

        for thought in named {
            self.existing(ThoughtId::new(thought))?;
        }

        Ok(())
    }

    /// Checks that the revised thought is on the path of the branch.
    fn check_revised(
        &self,
        revised: Option<ThoughtId>,
        branch: &Branch,
    ) -> Result<(), SessionError> {
        let Some(revised) = revised else {
            return Ok(());
        };

        if self.is_on_path(self.existing(revised)?, branch.tip()) {
            return Ok(());
        }

        Err(SessionError::NotOnPath {
            thought: revised,
            branch: branch.name.clone(),
        })
    }

    /// Checks that the thought may end its branch, if it does.
    fn check_end(&self, draft: &ThoughtDraft, place: &Place) -> Result<(), SessionError> {
        let is_early = !draft.next_thought_needed && !place.is_end();
        if !is_early || self.policy.early_end == EndRule::Allow {
            return Ok(());
        }

        let stages = place.outermost().strategy.stages().iter();
        let finals = stages.filter(|stage| stage.is_final());
        Err(SessionError::EarlyEnd {
            stage: place.stage().name().to_owned(),
            finals: finals.map(|stage| stage.name().to_owned()).collect(),
        })
    }
}

/// Returns whether the stage has a parameter that names the revised thought.
fn has_revision(stage: &Stage) -> bool {
    let parameter = stage.parameters().get(REVISES).map(Parameter::kind);
    parameter == Some(&ParameterType::Thought)
}

/// Returns the draft with the revised thought as a parameter, in a stage that has it.
fn with_revision(mut draft: ThoughtDraft, stage: &Stage) -> ThoughtDraft {
    if let Some(revised) = draft.revises.filter(|_| has_revision(stage)) {
        let parameters = &mut draft.parameters;
        parameters
            .entry(REVISES.to_owned())
            .or_insert_with(|| revised.get().into());
    }

    draft
}

/// Returns the thought that a draft revises, by its field or by its parameter.
fn revised(
    stage: &Stage,
    draft: &ThoughtDraft,
    standing: &impl Refuse,
) -> Result<Option<ThoughtId>, SessionError> {
    let parameter = draft.parameters.get(REVISES);
    let Some(given) = parameter.filter(|_| has_revision(stage)) else {
        return Ok(draft.revises);
    };

    let given = thought_id(given);
    match (draft.revises, given) {
        (Some(revised), Some(given)) if revised != given => {
            let expected = format_args!("{revised}, which is revised");
            let fault = Mistyped::new(REVISES, expected, given);
            Err(standing.mistyped(stage, fault).into())
        }
        _ => Ok(given),
    }
}

fn thought_id(value: &Value) -> Option<ThoughtId> {
    let number = u32::try_from(value.as_u64()?).ok()?;
    Some(ThoughtId::new(number))
}
