//! A wait for an event, at a place of a flow or inside `exec`.

use std::sync::Arc;

use cogwork_text::Name;
use serde::de::DeserializeOwned;

use super::failure::Failure;
use crate::journal::{Awaited, Journal, OutcomeProblemKind, Waited, decode};
use crate::{BoxError, Paused, Phase, StepName};

/// Why a step cannot read an answer. The journal is not at fault.
#[derive(Debug, thiserror::Error)]
#[error("the answer cannot be read: {0}")]
struct UnreadableAnswer(String);

/// Checks that an answer is a `T`.
pub(crate) fn accept<T: DeserializeOwned>(answer: &[u8]) -> Result<(), BoxError> {
    match decode::<T>(answer, OutcomeProblemKind::Unreadable) {
        Ok(_) => Ok(()),
        Err(problem) => Err(UnreadableAnswer(problem.detail().to_owned()).into()),
    }
}

/// The end of a wait.
pub(crate) enum Arrived {
    Answer(Vec<u8>),
    TimedOut,
}

/// Returns how a wait for an event ended. If the event hasn't arrived yet, the failure is a pause.
pub(crate) async fn wait(
    journal: &(dyn Journal + '_),
    step: &Arc<StepName>,
    awaited: Awaited<'_>,
) -> Result<Arrived, Failure> {
    match journal.wait(step, awaited).await {
        Ok(Waited::Answered(answer)) => Ok(Arrived::Answer(answer)),
        Ok(Waited::TimedOut) => Ok(Arrived::TimedOut),
        Ok(Waited::Pending { until }) => Err(Failure::Paused(Box::new(Paused {
            step: StepName::clone(step),
            event: awaited.event.to_owned(),
            why: awaited.why.to_owned(),
            until,
            schema: awaited.schema.cloned().map(Box::new),
            also: Vec::new(),
        }))),
        Err(error) if error.is::<UnreadableAnswer>() => {
            let problem = format!("the event `{}`: {error}", Name(awaited.event));
            Err(Failure::node(Phase::Exec, problem))
        }
        Err(error) => Err(Failure::Journal(error)),
    }
}
