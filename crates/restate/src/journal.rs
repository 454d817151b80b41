//! The journal of one attempt at a run, over the context of its handler.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::engine::{
    Awaited, Journal, Json as Recorded, Progress, StepError, StepName, Waited, Work,
};
use cogwork_text::ErrorText;
use restate_sdk::context::macro_support::SealedDurableFuture;
use restate_sdk::context::{RunFuture, RunRetryPolicy};
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::HandlerError;
use restate_sdk::serde::Json;

use crate::answers::{Delivered, promise_name};
use crate::outcome::{RawJson, Tried, shortened};
use crate::progress::{RunProgress, WaitsFor};
use crate::stopped::Stopped;
use crate::timers::{after, now, sleep};

/// The name of the state with the progress of a run.
pub(crate) const PROGRESS: &str = "progress";

pub(crate) struct RunJournal {
    key: String,
    /// The context, until the handler ends.
    context: Mutex<Option<ContextInternal>>,
    /// The deadline of the run, in milliseconds since 1970.
    until: Option<u64>,
    state: Mutex<State>,
}

/// What follows from the calls so far, and so is the same in each replay.
struct State {
    progress: RunProgress,
    /// The number of answers to each event that the run has used or refused.
    answered: HashMap<String, u64>,
}

/// What ends a wait.
#[derive(Clone, Copy)]
enum By {
    Answer,
    Limit,
    Deadline,
}

impl RunJournal {
    pub(crate) fn new(
        key: &str,
        context: &ContextInternal,
        until: Option<u64>,
        start: &str,
    ) -> Self {
        let progress = RunProgress {
            node: Some(start.to_owned()),
            ..RunProgress::default()
        };

        let journal = Self {
            key: key.to_owned(),
            context: Mutex::new(Some(context.clone())),
            until,
            state: Mutex::new(State {
                progress,
                answered: HashMap::new(),
            }),
        };
        journal.show(|_| ());
        journal
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn context(&self) -> Result<ContextInternal, Stopped> {
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        context.clone().ok_or(Stopped::HandlerEnded)
    }

    /// Lets go of the context when the handler ends: nothing may be called on it after that, and a
    /// task that `exec` has spawned may keep the journal.
    pub(crate) fn close(&self) {
        let mut context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        *context = None;
    }

    /// Returns the time until the deadline, if there is one. Without a timer for it, a run that is
    /// suspended while it waits wouldn't be called again at its deadline.
    fn left(&self) -> Option<Duration> {
        let until = Duration::from_millis(self.until?);
        Some(until.saturating_sub(now()))
    }

    /// Changes the progress that others can read.
    pub(crate) fn show(&self, change: impl FnOnce(&mut RunProgress)) {
        let mut state = self.state();
        change(&mut state.progress);

        // After the handler has ended, its last progress is already on record.
        if let Ok(context) = self.context() {
            context.set(PROGRESS, Json(state.progress.clone()));
        }
    }

    fn next_answer(&self, event: &str) -> String {
        let used = self.state().answered.get(event).copied();
        promise_name(event, used.unwrap_or_default().saturating_add(1))
    }

    fn use_answer(&self, event: &str) {
        let mut state = self.state();
        let used = state.answered.entry(event.to_owned()).or_default();
        *used = used.saturating_add(1);
    }

    async fn answer(&self, awaited: Awaited<'_>) -> Result<Waited, Stopped> {
        let context = self.context()?;
        // Before the loop: a refused answer doesn't start the time anew.
        let limit = awaited.within.map(|within| after(&context, within));
        let deadline = self.left().map(|left| after(&context, left));

        loop {
            let name = self.next_answer(awaited.event);
            let promise = context.promise::<RawJson>(&name);

            let mut awakened_by = vec![By::Answer];
            let mut handles = vec![promise.handle()];
            for (timer, by) in [(&limit, By::Limit), (&deadline, By::Deadline)] {
                awakened_by.extend(timer.iter().map(|_| by));
                handles.extend(timer.iter().map(|timer| timer.handle()));
            }

            // If nothing is ready, the server suspends the handler here and calls it again later.
            let first = context.select(handles).await?;
            let bytes = match awakened_by.get(first) {
                Some(By::Limit) => return Ok(Waited::TimedOut),
                Some(By::Deadline) => return Err(Stopped::Deadline),
                Some(By::Answer) | None => promise.await?.0,
            };

            // A refused answer is used up, too, as its promise cannot be resolved a second time.
            self.use_answer(awaited.event);
            match read(&bytes, awaited) {
                Ok(answer) => return Ok(Waited::Answered(answer)),
                Err(error) => self.refuse(&error),
            }
        }
    }

    /// Shows why an answer was refused, for whoever delivers the next one.
    fn refuse(&self, error: &BoxError) {
        let why = shortened(&ErrorText(error).to_string());
        self.show(|progress| {
            if let Some(waits_for) = &mut progress.waits_for {
                waits_for.refused = Some(why);
            }
        });
    }
}

fn read(bytes: &[u8], awaited: Awaited<'_>) -> Result<Recorded, BoxError> {
    let delivered: Delivered = serde_json::from_slice(bytes)?;
    awaited.accept(&delivered.answer)?;
    Ok(delivered.answer)
}

#[async_trait]
impl Journal for RunJournal {
    fn run_id(&self) -> &str {
        &self.key
    }

    fn in_order(&self) -> bool {
        true
    }

    async fn call(&self, name: &StepName, work: Work<'_>) -> Result<Recorded, StepError> {
        let work = || async { Ok::<_, HandlerError>(Json(Tried::from(work.await))) };

        // The retries are those of the flow, and part of the work.
        let once = RunRetryPolicy::new().max_attempts(1);
        let context = self.context().map_err(StepError::journal)?;
        let run = context.run(work).name(name.to_string()).retry_policy(once);

        let tried = run.await.map_err(Stopped::from);
        tried.map_err(StepError::journal)?.into_inner().into()
    }

    async fn sleep(&self, _step: &StepName, duration: Duration) -> Result<(), BoxError> {
        let context = self.context()?;
        Ok(sleep(&context, duration, self.left()).await?)
    }

    async fn wait(&self, _step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError> {
        let within = awaited.within.map(|within| within.as_millis());
        self.show(|progress| {
            progress.waits_for = Some(WaitsFor {
                event: awaited.event.to_owned(),
                why: shortened(awaited.why),
                within_ms: within.map(|within| u64::try_from(within).unwrap_or(u64::MAX)),
                schema: awaited.schema.cloned(),
                refused: None,
            });
        });

        // Not reset after an error: the run is over, or goes on waiting in the next attempt.
        let waited = self.answer(awaited).await?;
        self.show(|progress| progress.waits_for = None);
        Ok(waited)
    }

    async fn deliver(&self, event: &str, _answer: Recorded) -> Result<(), BoxError> {
        Err(format!(
            "an answer to `{}` cannot come from inside the run; deliver it with `Client::deliver`",
            cogwork_text::Name(event)
        )
        .into())
    }

    async fn progress(&self, progress: Progress<'_>) -> Result<(), BoxError> {
        match progress {
            Progress::At { node, steps } => self.show(|shown| {
                shown.node = Some(node.to_owned());
                shown.steps = steps;
            }),
            Progress::Ended { action, steps } => self.show(|shown| {
                shown.node = None;
                shown.steps = steps;
                shown.ended = Some(action.as_str().to_owned());
            }),

            // Errors of the engine are reported here as well, and a replay doesn't repeat them.
            _ => {}
        }

        Ok(())
    }
}
