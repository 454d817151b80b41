//! Executes a run with a journal.

use std::num::NonZeroU64;

use cogwork_flow::journal::Journal;
use cogwork_flow::{Flow, Run, RunError};

use crate::{Opened, Refusal, RefusalKind, State, Stopped};

/// Executes a run until it stops. This is what [`TestedEngine::proceed`](crate::TestedEngine::proceed)
/// does for a journal.
///
/// # Errors
///
/// Returns an error if the journal fails.
pub async fn execute(
    flow: &Flow<State>,
    journal: impl Journal,
    state: State,
) -> Result<Stopped, Refusal> {
    finish(flow.begin().with_journal(journal), state).await
}

/// The same, with a snapshot each time after so many steps.
pub(crate) async fn execute_folding(
    flow: &Flow<State>,
    opened: Opened,
    steps: NonZeroU64,
) -> Result<Stopped, Refusal> {
    let run = flow.begin().with_journal(opened.journal);
    finish(run.with_fold_every(steps), opened.state).await
}

async fn finish(mut run: Run<'_, State>, mut state: State) -> Result<Stopped, Refusal> {
    let error = match run.finish(&mut state).await {
        Ok(ended) => {
            let steps = ended.steps;
            return Ok(Stopped::Ended { state, steps });
        }
        Err(error) => error,
    };

    match error.into_paused() {
        Ok(paused) => Ok(Stopped::Waiting {
            event: paused.event,
            until: paused.until,
        }),
        Err(error) if error.is_journal() => Err(Refusal::new(RefusalKind::Other, error)),
        Err(error) if error.is_cancelled() => Ok(Stopped::Cancelled),
        Err(error) => Ok(Stopped::Failed {
            error: error.to_string(),
        }),
    }
}

pub(crate) fn refused_answer(error: RunError) -> Refusal {
    let kind = if error.is_journal() {
        RefusalKind::Other
    } else {
        RefusalKind::UnknownEvent
    };
    Refusal::new(kind, error)
}
