use std::collections::BTreeMap;
use std::fmt;

use cogwork_text::{Escaped, Name, NameList};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Mistyped, Stage, Strategy};

/// A move that was refused, and the reason. A refused move doesn't change anything.
///
/// It serialises with all its fields, so that a model or a remote program can correct the move.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RefusedMove {
    /// The strategy that refused the move.
    pub strategy: String,
    /// The current stage. If the move would have entered this strategy, the stage belongs to a
    /// different one.
    pub from: String,
    /// The stage that was requested.
    pub attempted: String,
    /// Why the move was refused.
    pub reason: RefusalReason,
    /// The stages that may follow.
    pub allowed: Vec<String>,
    /// The required parameters that are missing.
    #[serde(default)]
    pub missing: Vec<String>,
    /// The parameters of the wrong type.
    #[serde(default)]
    pub mistyped: Vec<Mistyped>,
    /// The parameters that the stage doesn't have.
    #[serde(default)]
    pub unknown: Vec<String>,
}

cogwork_text::debug_as_display!(RefusedMove);

/// Why a move was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalReason {
    /// The strategy doesn't have the stage.
    UnknownStage,
    /// The stage may not follow the current one.
    IllegalMove,
    /// The stage may follow, but its parameters are wrong.
    Parameters,
}

/// A position from which moves can be refused.
pub(crate) trait Refuse {
    fn refusal(&self, attempted: &str, reason: RefusalReason) -> RefusedMove;

    /// Returns the strategy of the next stage.
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
                Some(parameter) => mistyped.extend(parameter.kind().faults(name, value)),
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

    /// Returns the refusal of a parameter that has the right type, but the wrong value.
    fn mistyped(&self, to: &Stage, fault: Mistyped) -> Box<RefusedMove> {
        let refusal = self.refusal(to.name(), RefusalReason::Parameters);
        Box::new(RefusedMove {
            mistyped: vec![fault],
            ..refusal
        })
    }
}

/// A position inside a strategy.
pub(crate) struct Standing<'a> {
    pub(crate) strategy: &'a Strategy,
    pub(crate) from: &'a Stage,
}

impl<'a> Standing<'a> {
    /// Returns the stage with this name if it may follow.
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

/// A position from which a strategy is entered: in any of its stages, or only in the start stage.
pub(crate) struct Entry<'a> {
    pub(crate) from: &'a Stage,
    pub(crate) into: &'a Strategy,
    pub(crate) anywhere: bool,
}

impl<'a> Entry<'a> {
    /// Returns the stage with this name if the strategy can be entered there.
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

        // The name was truncated before it was escaped.
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
            write!(f, "{joint}needs {}", NameList::and(&self.missing))?;
            joint = "; ";
        }

        if !self.unknown.is_empty() {
            write!(f, "{joint}has no parameter {}", NameList::or(&self.unknown))?;
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
