use std::fmt;

use cogwork_text::{Escaped, Name, NameList};
use serde::{Deserialize, Serialize};

use crate::table::Mistyped;

/// A move that was refused, and the reason. A refused move doesn't change anything.
///
/// It serialises with all its fields, so that a model or a remote program can correct the move.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusedMove {
    /// The strategy that refused the move.
    pub strategy: String,
    /// The current stage.
    pub from: String,
    /// The stage that was requested.
    pub attempted: String,
    /// The stages that may follow.
    pub allowed: Vec<String>,
    /// The parameters that are missing, unknown or of the wrong type. There are none if the stage may
    /// not follow.
    pub mistyped: Vec<Mistyped>,
}

cogwork_text::debug_as_display!(RefusedMove);

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
