//! How a run has ended, for the client.

use cogwork_text::{MultiLine, OneLine};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::entry::Outcome;
use super::running::Finished;
use crate::resources::Address;

/// The maximum number of characters of a reason.
const REASON: usize = 1_000;

/// Returns the result of the call for a run that has ended.
pub(super) fn result_of(finished: &Finished) -> CallToolResult {
    let text = text_of(finished);
    let mut result = CallToolResult::structured(data_of(finished));

    result.content = vec![ContentBlock::text(text)];
    let has_failed = matches!(finished.end.outcome, Outcome::Failed | Outcome::Cancelled);
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

fn data_of(finished: &Finished) -> Value {
    let end = &finished.end;
    let reason = OneLine::new(&end.reason).with_max_chars(REASON);
    let mut data = json!({
        "sessionId": finished.id,
        "strategy": finished.method,
        "outcome": end.outcome.as_str(),
        "reason": reason.to_string(),
        "thoughts": finished.thoughts,
        "calls": finished.spent.calls,
        "tokens": finished.spent.tokens(),
        "resource": Address::session(finished.id.clone()).to_string(),
    });

    if let Value::Object(data) = &mut data {
        let answer = end.answer.clone().map(Value::from);
        data.extend(answer.map(|answer| ("answer".to_owned(), answer)));
        let confidence = end.confidence.map(Value::from);
        data.extend(confidence.map(|confidence| ("confidence".to_owned(), confidence)));
        let unrecorded = finished.unrecorded.as_ref();
        data.extend(unrecorded.map(|error| ("notStored".to_owned(), error.to_string().into())));
    }
    data
}
