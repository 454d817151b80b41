use std::collections::BTreeSet;

use bytes::Bytes;
use cogwork_text::{Name, NameList, check_by_schema};
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::TerminalError;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::progress::of_run;
use crate::answers;
use crate::outcome::{Handled, RawJson};
use crate::progress::RunProgress;
use crate::settings::Inner;
use crate::stopped::code;

/// The input of the handler.
#[derive(Deserialize)]
struct Received<'a> {
    event: String,
    #[serde(borrow)]
    answer: &'a RawValue,
}

/// Stores the answer to an event, for a step that waits for it now or later.
pub(crate) async fn deliver<S>(inner: &Inner<S>, context: &ContextInternal) -> Handled {
    let (RawJson(input), metadata) = context.input().await;
    // Before anything is read: a promise that is too large would fail the run in each attempt.
    check_size(&input, inner.settings.max_message)?;

    let Received { event, answer } = serde_json::from_slice(&input).map_err(|error| {
        let problem = format!("expected `{{\"event\": …, \"answer\": …}}`: {error}");
        TerminalError::new_with_code(code::UNREADABLE, problem)
    })?;

    let progress = of_run(context).await?;
    // An answer to a misspelt event would wait forever, and so would the run.
    check_event(inner, progress.as_ref(), &event)?;
    check_answer(progress.as_ref(), &event, answer)?;

    answers::deliver(context, &metadata.invocation_id, &event, answer).await?;
    Ok(RawJson(Bytes::from_static(b"null")))
}

fn check_size(input: &[u8], max: usize) -> Result<(), TerminalError> {
    if input.len() <= max {
        return Ok(());
    }

    let size = input.len();
    let problem = format!("the answer has {size} bytes; at most {max} are allowed");
    Err(TerminalError::new_with_code(code::TOO_LARGE, problem))
}

/// Checks that the run may use an answer to this event. The events of composite nodes are known
/// once the run waits for them.
fn check_event<S>(
    inner: &Inner<S>,
    progress: Option<&RunProgress>,
    event: &str,
) -> Result<(), TerminalError> {
    if progress.is_some_and(RunProgress::is_over) {
        let problem = "the run has ended, so it takes no more answers";
        return Err(TerminalError::new_with_code(code::ENDED, problem));
    }

    let mut known: BTreeSet<&str> = inner.graph.events().into_iter().collect();
    // The graph doesn't have the events of composite nodes, so the last wait is one of the known.
    let waits_for = progress.and_then(|progress| progress.waits_for.as_ref());
    // A node may wait for an event whose name it computes.
    known.extend(waits_for.map(|waits_for| waits_for.event.as_str()));
    if known.contains(event) || inner.graph.awaits(event) {
        return Ok(());
    }

    let event = Name(event);
    let problem = match known.len() {
        0 => format!("no node waits for the event `{event}`, nor for any other"),
        _ => format!(
            "no node waits for the event `{event}`; the run waits for {}",
            NameList::or(known.iter())
        ),
    };
    Err(TerminalError::new_with_code(code::NOT_FOUND, problem))
}

/// Checks that the answer matches the schema, if the run waits for this event now. Of a later wait, the
/// schema isn't known yet.
fn check_answer(
    progress: Option<&RunProgress>,
    event: &str,
    answer: &RawValue,
) -> Result<(), TerminalError> {
    let waits_for = progress.and_then(|progress| progress.waits_for.as_ref());
    let schema = waits_for
        .filter(|wait| wait.event == event)
        .and_then(|wait| wait.schema.as_ref()?.read().ok());
    // An answer that is nested too deeply for this can still be one that the flow reads.
    let (Some(schema), Ok(answer)) = (schema, serde_json::from_str(answer.get())) else {
        return Ok(());
    };

    check_by_schema(&schema, &answer).map_err(|problem| {
        let event = Name(event);
        let problem =
            format!("the answer to `{event}` doesn't match the schema of its wait: {problem}");
        TerminalError::new_with_code(code::REFUSED, problem)
    })
}
