use serde::Serialize;

use super::{EndReason, Solving};
use crate::Spent;

/// The result of a run, which has the same form for all strategies.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Solved(Solving);

impl From<Solving> for Solved {
    /// Returns the result of a run of a solver's [flow](super::Solver::into_flow).
    fn from(mut solving: Solving) -> Self {
        solving.end.get_or_insert_with(|| EndReason::GaveUp {
            why: "the run was given up".to_owned(),
        });
        Self(solving)
    }
}

impl Solved {
    /// Returns the answer. If the run was stopped, this is the best answer so far, if there is one.
    pub fn answer(&self) -> Option<&str> {
        self.0.best().map(|answer| answer.text.as_str())
    }

    /// Returns the confidence in the answer, from 0 to 1, if the strategy provides one.
    pub fn confidence(&self) -> Option<f64> {
        self.0.best().and_then(|answer| answer.confidence)
    }

    /// Returns why the run ended.
    pub fn end(&self) -> &EndReason {
        self.0.end().unwrap_or(&EndReason::Answered)
    }

    /// Returns whether the strategy reached its final stage with an answer. A refusal isn't one; see
    /// [`no_answer`](cogwork_typed::ask::no_answer). If not, the answer is the best one so far, and
    /// [`end`](Self::end) is the reason.
    pub fn is_answered(&self) -> bool {
        *self.end() == EndReason::Answered
    }

    /// Returns the cost of the run.
    pub fn spent(&self) -> Spent {
        self.0.spent()
    }

    /// Returns how the answer was found: the thoughts, the calls, and the plan if there is one. It is
    /// displayed as the thoughts in lines.
    pub fn trace(&self) -> &Solving {
        &self.0
    }
}
