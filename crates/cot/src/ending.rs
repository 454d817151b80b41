use serde::{Deserialize, Serialize};

use crate::Trace;
use cogwork_typed::ask::Limit;

/// How a limit ended a reasoning.
///
/// Either the model was asked to conclude, and the last thought is its conclusion. Or there was no
/// conclusion: then the answer is the text of the last thought, [`problem`](Self::problem) is the
/// reason, and [`trace`](Self::trace) contains the replies and the cost of the last turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CutShort {
    /// The limit.
    pub limit: Limit,
    /// Why the conclusion is missing, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The replies and the cost of the last turn if it gave no conclusion. Otherwise, they are in the
    /// trace of the last thought, and this one is empty.
    #[serde(default, skip_serializing_if = "Trace::is_empty")]
    pub trace: Trace,
}

impl CutShort {
    pub(crate) fn concluded(limit: Limit) -> Self {
        Self {
            limit,
            problem: None,
            trace: Trace::default(),
        }
    }

    pub(crate) fn unfinished(limit: Limit, problem: String, trace: Trace) -> Self {
        Self {
            limit,
            problem: Some(problem),
            trace,
        }
    }

    /// Returns whether the last thought is a conclusion that the model was asked for because of the
    /// limit.
    pub fn is_concluded(&self) -> bool {
        self.problem.is_none()
    }
}
