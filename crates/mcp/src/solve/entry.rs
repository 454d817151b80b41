//! What the session of a run consists of.

use cogwork_strategies::Spent;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::resources::newest;
use crate::run::Status;
use crate::shown::{Shown, Step};
use crate::store::{Owner, SessionHeader, SessionStore, StoreError};

/// An entry in the session of a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub(super) enum SolveEntry {
    /// The first entry.
    Begun { problem: String, method: String },
    /// What a step of the run added.
    Step(SolveStep),
    /// The last entry. It is missing if the server ended before the run.
    Ended(SolveEnd),
}

/// The thoughts and the calls of a step.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SolveStep {
    pub(super) thoughts: Vec<Step>,
    /// The calls to the model and to tools with their raw replies, in the form of the method.
    pub(super) calls: Vec<Value>,
    /// The total cost up to and including this step.
    pub(super) spent: Spent,
}

/// How a run ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SolveEnd {
    pub(super) outcome: Status,
    /// The best answer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<String>,
    /// From 0 to 1, if the method provides one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) confidence: Option<f64>,
    /// Why it ended, on one line.
    pub(super) reason: String,
}

impl SolveEnd {
    pub(super) fn failed(reason: impl ToString) -> Self {
        Self {
            outcome: Status::Failed,
            answer: None,
            confidence: None,
            reason: reason.to_string(),
        }
    }
}

/// Returns what a resource shows of a run.
pub(crate) async fn shown(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
) -> Result<Shown, StoreError> {
    let newest = newest(store, owner, session).await?;
    let mut shown = Shown {
        older: newest.older,
        ..Shown::of(session)
    };

    for entry in newest.entries {
        match entry {
            SolveEntry::Begun { problem, .. } => shown.problem = Some(problem),
            SolveEntry::Step(step) => shown.thoughts.extend(step.thoughts),
            SolveEntry::Ended(end) => {
                let outcome = end.outcome.as_str().to_owned();
                shown.facts.push(("Outcome", outcome));
                shown.facts.push(("Reason", end.reason));
                shown.answer = end.answer;
            }
        }
    }
    Ok(shown)
}
