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

/// A move from a stage to one of those that are allowed.
pub(crate) struct Move<'a> {
    /// The strategy of the next stage.
    pub(crate) strategy: &'a Strategy,
    /// The name of the current stage.
    pub(crate) from: &'a str,
    pub(crate) allowed: Vec<&'a Stage>,
}

impl<'a> Move<'a> {
    /// Returns the stage with this name if it may follow.
    pub(crate) fn to(&self, attempted: &str) -> Result<&'a Stage, Box<RefusedMove>> {
        let mut allowed = self.allowed.iter().copied();
        if let Some(stage) = allowed.find(|stage| stage.name() == attempted) {
            return Ok(stage);
        }

        let reason = match self.strategy.stage(attempted) {
            Some(_) => RefusalReason::IllegalMove,
            None => RefusalReason::UnknownStage,
        };
        Err(Box::new(self.refusal(attempted, reason)))
    }

    /// Checks the parameters of a thought. Unless it needs all, none is required.
    pub(crate) fn check(
        &self,
        to: &Stage,
        given: &BTreeMap<String, Value>,
        needs_all: bool,
    ) -> Result<(), Box<RefusedMove>> {
        let known = to.parameters();
        let required = known.iter().filter(|(_, known)| known.is_required());
        let missing = required.filter(|(name, _)| needs_all && !given.contains_key(*name));
        let unknown = given.keys().filter(|name| !known.contains_key(*name));
        let mistyped = given.iter().filter_map(|(name, value)| {
            let parameter = known.get(name)?;
            Some(parameter.kind().faults(name, value))
        });

        let refused = RefusedMove {
            missing: missing.map(|(name, _)| name.clone()).collect(),
            unknown: unknown.map(|name| Name(name).to_string()).collect(),
            mistyped: mistyped.flatten().collect(),
            ..self.refusal(to.name(), RefusalReason::Parameters)
        };
        if refused.missing.is_empty() && refused.unknown.is_empty() && refused.mistyped.is_empty() {
            return Ok(());
        }

        Err(Box::new(refused))
    }

    /// Returns the refusal of a parameter that has the right type, but the wrong value.
    pub(crate) fn mistyped(&self, to: &Stage, fault: Mistyped) -> Box<RefusedMove> {
        Box::new(RefusedMove {
            mistyped: vec![fault],
            ..self.refusal(to.name(), RefusalReason::Parameters)
        })
    }

    fn refusal(&self, attempted: &str, reason: RefusalReason) -> RefusedMove {
        let allowed = self.allowed.iter();
        RefusedMove {
            strategy: self.strategy.name().to_owned(),
            from: self.from.to_owned(),
            attempted: Name(attempted).to_string(),
            reason,
            allowed: allowed.map(|stage| stage.name().to_owned()).collect(),
            missing: Vec::new(),
            mistyped: Vec::new(),
            unknown: Vec::new(),
        }
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
            RefusalReason::IllegalMove => write!(
                f,
                "`{strategy}` does not lead from `{from}` to `{attempted}`"
            )?,
            RefusalReason::Parameters => {
                let problems = self.parameter_problems();
                return write!(f, "the stage `{attempted}` of `{strategy}`{problems}");
            }
        }

        match &self.allowed[..] {
            [] => f.write_str("; nothing follows the final stage"),
            allowed => write!(f, "; expected {}", NameList::or(allowed)),
        }
    }
}

impl RefusedMove {
    /// Returns the problems of the parameters, behind what separates them from the stage.
    fn parameter_problems(&self) -> String {
        let mut problems = Vec::new();
        if !self.missing.is_empty() {
            problems.push(format!("needs {}", NameList::and(&self.missing)));
        }
        if !self.unknown.is_empty() {
            problems.push(format!("has no parameter {}", NameList::or(&self.unknown)));
        }

        let joint = if problems.is_empty() { ": " } else { " " };
        problems.extend(self.mistyped.iter().map(Mistyped::to_string));
        format!("{joint}{}", problems.join("; "))
    }
}

impl std::error::Error for RefusedMove {}
