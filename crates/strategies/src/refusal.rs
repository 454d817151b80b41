use std::collections::BTreeMap;
use std::fmt;

use cogwork_text::{Escaped, Name, NameList};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Mistyped, Stage, Strategy};

/// A move that is not made, and why. Nothing has changed.
///
/// It serialises with all its fields, so that a model or a program elsewhere can mend the move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RefusedMove {
    /// The strategy that refuses.
    pub strategy: String,
    /// The stage from which the move was tried; of another strategy where this one was to be entered.
    pub from: String,
    /// The stage that was to be next.
    pub attempted: String,
    /// Why not.
    pub reason: RefusalReason,
    /// The stages that may follow.
    pub allowed: Vec<String>,
    /// Required parameters that are not there.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Parameters that are of another type than the stage says.
    #[serde(default)]
    pub mistyped: Vec<Mistyped>,
    /// Parameters that the stage does not know.
    #[serde(default)]
    pub unknown: Vec<String>,
}

/// Why a move is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalReason {
    /// The strategy has no such stage.
    UnknownStage,
    /// The stage may not follow.
    IllegalMove,
    /// It may follow, but its parameters are not right.
    Parameters,
}

/// What refusals are made from: where something stands, and where it may go.
pub(crate) trait Refuse {
    fn refusal(&self, attempted: &str, reason: RefusalReason) -> RefusedMove;

    /// The strategy of the stage that is to be next.
    fn strategy(&self) -> &Strategy;

    fn unreachable(&self, attempted: &str) -> Box<RefusedMove> {
        let known = self.strategy().stage(attempted).is_some();
        let reason = if known {
            RefusalReason::IllegalMove
        } else {
            RefusalReason::UnknownStage
        };

        Box::new(self.refusal(attempted, reason))
    }

    /// Checks the parameters of a thought that enters a stage.
    fn check(&self, to: &Stage, given: &BTreeMap<String, Value>) -> Result<(), Box<RefusedMove>> {
        let known = to.parameters().iter();
        let required = known.filter(|(_, parameter)| parameter.is_required());
        let missing = required.map(|(name, _)| name);
        let missing = missing.filter(|name| !given.contains_key(*name));

        self.check_parameters(to, given, missing.cloned().collect())
    }

    /// Checks the parameters of a thought that stays in a stage, which needs none.
    fn check_given(
        &self,
        to: &Stage,
        given: &BTreeMap<String, Value>,
    ) -> Result<(), Box<RefusedMove>> {
        self.check_parameters(to, given, Vec::new())
    }

    fn check_parameters(
        &self,
        to: &Stage,
        given: &BTreeMap<String, Value>,
        missing: Vec<String>,
    ) -> Result<(), Box<RefusedMove>> {
        let mut mistyped = Vec::new();
        let mut unknown = Vec::new();

        for (name, value) in given {
            match to.parameters().get(name) {
                Some(parameter) => parameter.kind().check(name, value, &mut mistyped),
                None => unknown.push(Name(name).to_string()),
            }
        }

        if missing.is_empty() && mistyped.is_empty() && unknown.is_empty() {
            return Ok(());
        }

        let refusal = self.refusal(to.name(), RefusalReason::Parameters);
        Err(Box::new(RefusedMove {
            missing,
            mistyped,
            unknown,
            ..refusal
        }))
    }

    /// That a parameter is right by itself, but not here.
    fn mistyped(&self, to: &Stage, fault: Mistyped) -> Box<RefusedMove> {
        let refusal = self.refusal(to.name(), RefusalReason::Parameters);
        Box::new(RefusedMove {
            mistyped: vec![fault],
            ..refusal
        })
    }
}

/// A stage of a strategy, from which its edges lead.
pub(crate) struct Standing<'a> {
    pub(crate) strategy: &'a Strategy,
    pub(crate) from: &'a Stage,
}

impl<'a> Standing<'a> {
    /// The stage with this name, if it may follow.
    pub(crate) fn next(&self, attempted: &str) -> Result<&'a Stage, Box<RefusedMove>> {
        let next = self
            .strategy
            .next(self.from)
            .find(|stage| stage.name() == attempted);
        next.ok_or_else(|| self.unreachable(attempted))
    }
}

impl Refuse for Standing<'_> {
    fn strategy(&self) -> &Strategy {
        self.strategy
    }

    fn refusal(&self, attempted: &str, reason: RefusalReason) -> RefusedMove {
        refusal(
            self.strategy,
            self.from,
            attempted,
            reason,
            self.from.next_names().to_vec(),
        )
    }
}

/// A stage, perhaps of another strategy, from which a strategy is entered: anywhere, or in its start alone.
pub(crate) struct Entry<'a> {
    pub(crate) from: &'a Stage,
    pub(crate) into: &'a Strategy,
    pub(crate) anywhere: bool,
}

impl<'a> Entry<'a> {
    /// The stage with this name, if the strategy can be entered there.
    pub(crate) fn next(&self, attempted: &str) -> Result<&'a Stage, Box<RefusedMove>> {
        self.stages()
            .find(|stage| stage.name() == attempted)
            .ok_or_else(|| self.unreachable(attempted))
    }

    fn stages(&self) -> impl Iterator<Item = &'a Stage> {
        let start = self.into.start().index;
        let anywhere = self.anywhere;
        self.into
            .stages()
            .iter()
            .filter(move |stage| anywhere || stage.index == start)
    }
}

impl Refuse for Entry<'_> {
    fn strategy(&self) -> &Strategy {
        self.into
    }

    fn refusal(&self, attempted: &str, reason: RefusalReason) -> RefusedMove {
        let allowed = self.stages().map(|stage| stage.name().to_owned()).collect();
        refusal(self.into, self.from, attempted, reason, allowed)
    }
}

fn refusal(
    strategy: &Strategy,
    from: &Stage,
    attempted: &str,
    reason: RefusalReason,
    allowed: Vec<String>,
) -> RefusedMove {
    RefusedMove {
        strategy: strategy.name().to_owned(),
        from: from.name().to_owned(),
        attempted: Name(attempted).to_string(),
        reason,
        allowed,
        missing: Vec::new(),
        mistyped: Vec::new(),
        unknown: Vec::new(),
    }
}

impl fmt::Display for RefusedMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strategy = Name(&self.strategy);
        let from = Name(&self.from);

        // The name is cut already, and longer by its escapes.
        let attempted = Escaped::new(&self.attempted);

        match self.reason {
            RefusalReason::UnknownStage => write!(f, "`{strategy}` has no stage `{attempted}`")?,
            RefusalReason::IllegalMove => {
                write!(
                    f,
                    "`{strategy}` does not lead from `{from}` to `{attempted}`"
                )?;
            }
            RefusalReason::Parameters => return self.write_parameters(f),
        }

        match &self.allowed[..] {
            [] => f.write_str("; nothing follows the final stage"),
            allowed => write!(f, "; expected {}", NameList::or(allowed)),
        }
    }
}

impl RefusedMove {
    fn write_parameters(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempted = Escaped::new(&self.attempted);
        write!(f, "the stage `{attempted}` of `{}`", Name(&self.strategy))?;
        let mut joint = " ";

        if !self.missing.is_empty() {
            write!(f, "{joint}lacks {}", NameList::and(&self.missing))?;
            joint = "; ";
        }

        if !self.unknown.is_empty() {
            write!(f, "{joint}does not know {}", NameList::or(&self.unknown))?;
            joint = "; ";
        }

        for (index, mistyped) in self.mistyped.iter().enumerate() {
            let joint = if index == 0 && joint == " " {
                ": "
            } else {
                "; "
            };
            write!(f, "{joint}{mistyped}")?;
        }

        Ok(())
    }
}

impl std::error::Error for RefusedMove {}
