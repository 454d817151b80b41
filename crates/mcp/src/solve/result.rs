//! How a run has ended, for the client.

use cogwork_text::{MultiLine, OneLine};
use cogwork_tools::schemars::{self, JsonSchema};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;

use super::running::Finished;
use crate::resources::Address;
use crate::run::Status;
use crate::store::SessionId;

/// The maximum number of characters of a reason.
const REASON: usize = 1_000;

/// The result of a call as data.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answered {
    session_id: SessionId,
    strategy: &'static str,
    /// A run that was stopped reached a limit; its answer isn't final.
    outcome: Status,
    /// Why the run ended.
    reason: String,
    /// Missing if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// From 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    thoughts: usize,
    calls: u32,
    tokens: u64,
    /// The URI of the session with all thoughts.
    resource: String,
    /// Why some of the thoughts aren't in the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_stored: Option<String>,
}

/// Returns the result of the call for a run that has ended.
pub(super) fn result_of(finished: &Finished) -> CallToolResult {
    let data = serde_json::to_value(Answered::of(finished)).unwrap_or_default();
    let mut result = CallToolResult::structured(data);

    result.content = vec![ContentBlock::text(text_of(finished))];
    let has_failed = matches!(finished.end.outcome, Status::Failed | Status::Cancelled);
    result.is_error = Some(has_failed);
    result
}

fn text_of(finished: &Finished) -> String {
    let end = end_of(finished);
    let place = Address::session(finished.id.clone());
    let warning = finished.unrecorded.as_ref();
    let warning = warning.map(|error| format!(" Some of it isn't stored: {error}."));
    let warning = warning.unwrap_or_default();

    match &finished.end.answer {
        Some(answer) => {
            let answer = MultiLine::new(answer);
            format!("{answer}\n\n({end}; the thoughts are in {place}.{warning})")
        }
        None => format!("There is no answer: {end}. The thoughts are in {place}.{warning}"),
    }
}

/// Returns how a run ended, on one line.
pub(super) fn end_of(finished: &Finished) -> String {
    let reason = OneLine::new(&finished.end.reason).with_max_chars(REASON);
    let thoughts = finished.thoughts;
    let plural = if thoughts == 1 { "" } else { "s" };
    format!(
        "{reason}, after {thoughts} thought{plural} and {}",
        finished.spent
    )
}

impl Answered {
    fn of(finished: &Finished) -> Self {
        let end = &finished.end;
        let reason = OneLine::new(&end.reason).with_max_chars(REASON);
        let unrecorded = finished.unrecorded.as_ref();

        Self {
            session_id: finished.id.clone(),
            strategy: finished.method,
            outcome: end.outcome,
            reason: reason.to_string(),
            answer: end.answer.clone(),
            confidence: end.confidence,
            thoughts: finished.thoughts,
            calls: finished.spent.calls,
            tokens: finished.spent.tokens(),
            resource: Address::session(finished.id.clone()).to_string(),
            not_stored: unrecorded.map(ToString::to_string),
        }
    }
}
