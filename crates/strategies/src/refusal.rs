use std::collections::BTreeMap;
use std::fmt;

use cogwork_text::{Escaped, Name, NameList};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::table::Mistyped;
use crate::{Stage, Strategy};

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
    /// The stages that may follow.
    pub allowed: Vec<String>,
    /// The parameters that are missing, unknown or of the wrong type. There are none if the stage may
    /// not follow.
    #[serde(default)]
    pub mistyped: Vec<Mistyped>,
}

cogwork_text::debug_as_display!(RefusedMove);

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

        Err(self.refusal(attempted, Vec::new()))
    }

    /// Checks the parameters of a thought. Unless it needs all, none is required.
    pub(crate) fn check(
        &self,
        to: &Stage,
        given: &BTreeMap<String, Value>,
        needs_all: bool,
    ) -> Result<(), Box<RefusedMove>> {
        let known = to.parameters();
        let mut mistyped = Vec::new();

        for (name, parameter) in known {
            match given.get(name) {
                Some(value) => mistyped.extend(parameter.kind().faults(name, value)),
                None if needs_all && parameter.is_required() => {
                    mistyped.push(Mistyped::new(name, parameter.kind(), "missing"));
                }
                None => {}
            }
        }
        for (name, value) in given.iter().filter(|(name, _)| !known.contains_key(*name)) {
            mistyped.push(Mistyped::of(name, "nothing", value));
        }

        if mistyped.is_empty() {
            return Ok(());
        }
        Err(self.refusal(to.name(), mistyped))
    }

    pub(crate) fn refusal(&self, attempted: &str, mistyped: Vec<Mistyped>) -> Box<RefusedMove> {
        let allowed = self.allowed.iter();
        Box::new(RefusedMove {
            strategy: self.strategy.name().to_owned(),
            from: self.from.to_owned(),
            attempted: Name(attempted).to_string(),
            allowed: allowed.map(|stage| stage.name().to_owned()).collect(),
            mistyped,
        })
    }
}

impl fmt::Display for RefusedMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strategy = Name(&self.strategy);
        // The name was truncated before it was escaped.
        let attempted = Escaped::new(&self.attempted);

        if !self.mistyped.is_empty() {
            let faults: Vec<String> = self.mistyped.iter().map(Mistyped::to_string).collect();
            let faults = faults.join("; ");
            return write!(f, "the stage `{attempted}` of `{strategy}`: {faults}");
        }

        let from = Name(&self.from);
        write!(
            f,
            "`{strategy}` does not lead from `{from}` to `{attempted}`; "
        )?;
        match &self.allowed[..] {
            [] => f.write_str("nothing follows the final stage"),
            allowed => write!(f, "expected {}", NameList::or(allowed)),
        }
    }
}

impl std::error::Error for RefusedMove {}
