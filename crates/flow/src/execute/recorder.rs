//! What a run does against its journal: the `exec` of a step, and the calls and waits inside it.
//!
//! Each `exec` is a call to the journal. In a composite node, the calls inside `exec` come first:
//!
//! 1. [`exec_composite`] looks up the outcome of the whole step, and otherwise makes attempts
//!    at it. Each attempt has a number that is part of the names of its calls. An attempt that failed
//!    is recorded: if a call failed it, so that the next try makes the failed calls again, and
//!    otherwise so that the next attempt makes all of its calls again.
//! 2. [`Calls::call`] and [`Calls::wait`] are polled by `exec` and poll the journal themselves. What
//!    must not be visible to `exec`, such as a failure of the journal, is stored in the
//!    [state](State), and the call stays pending.
//! 3. [`Calls::attempt`] looks at that after each poll of `exec`, and drops `exec` if the run stops.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::future::{pending, poll_fn, ready};
use std::mem;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use cogwork_text::Name;
use futures_util::FutureExt;
use futures_util::future::{Either, join, select};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::task::{unconstrained, yield_now};

use super::attempts::{Attempts, CallKey};
use super::failure::Failure;
use super::named_step::NamedStep;
use crate::boxed::BoxFuture;
use crate::engine::{
    Awaited, Journal, Json, RefusedAnswer, StepError, StepName, Waited, Work, WorkError,
};
use crate::nodes::Phase;
use crate::step_name::CallName;
use crate::watch::EventKind;
use crate::{BoxError, Paused, current};

/// The maximum length of a recorded text for people, such as an error, in characters.
const MAX_TEXT: usize = 10_000;

/// An attempt at `exec`, which returns its outcome as JSON.
pub(crate) type Exec<'a> = BoxFuture<'a, Result<Json, WorkError>>;

/// The outcome of a call.
pub(crate) struct Outcome {
    pub(crate) json: Json,
    /// Whether the work was done, instead of read from the journal.
    pub(crate) was_made: bool,
}

/// Does the work of a call, unless its outcome is recorded.
pub(crate) async fn call(
    journal: &dyn Journal,
    name: &StepName,
    work: impl Future<Output = Result<Json, WorkError>> + Send,
) -> Result<Outcome, StepError> {
    // The journal polls the work only if it has no outcome, which nothing else shows.
    let was_made = AtomicBool::new(false);
    let work = pin!(async {
        was_made.store(true, Ordering::Relaxed);
        work.await
    });

    let json = journal.call(name, Work(work)).await?;
    let was_made = was_made.load(Ordering::Relaxed);
    Ok(Outcome { json, was_made })
}

/// Calls `exec` of a composite node, which makes calls of its own, unless its outcome is recorded.
pub(crate) async fn exec_composite<'a>(
    step: &NamedStep,
    journal: &Arc<dyn Journal>,
    exec: &(dyn Fn() -> Exec<'a> + Sync),
) -> Result<Outcome, Failure> {
    // With the outcome of the step on record, its calls aren't needed, and may be folded away.
    let recorded = journal.find(&step.name).await;
    if let Some(json) = recorded.map_err(Failure::Journal)? {
        let was_made = false;
        return Ok(Outcome { json, was_made });
    }

    let calls = Arc::new(Calls::new(step, journal));
    calls.skip_failed_attempts().await?;

    loop {
        let exec = step.exec(Some(&calls), exec());
        let stopped = match calls.attempt(exec).await {
            Ok(outcome) => {
                // A call that `exec` has abandoned ends in the journal before the step does.
                calls.end_dropped().await?;

                // Later replays need none of the calls of the step.
                return Ok(call(&**journal, &step.name, ready(Ok(outcome))).await?);
            }
            Err(stopped) => stopped,
        };

        let error = match &stopped {
            Stopped::Failed(error) => error.error.to_string(),
            Stopped::Panicked(_) => {
                calls.state().attempts.panicked();
                "it panicked".to_owned()
            }
            Stopped::Run(_) => return Err(stopped.into_failure()),
        };

        // A journal that finds nothing replays the failed attempts of earlier runs.
        // Recorded before the error is returned: a run that is resumed must not replay the calls
        // that made this attempt fail.
        let is_new = calls.record_failure(&error).await?;
        if is_new {
            return Err(stopped.into_failure());
        }
    }
}

/// Returns the answer to an event, or `None` if the wait timed out. If the event hasn't arrived yet,
/// the failure is a pause, unless the run stays at its waits.
pub(crate) async fn wait(
    step: &NamedStep,
    journal: &dyn Journal,
    awaited: Awaited<'_>,
) -> Result<Option<Json>, Failure> {
    let mut waited = journal.wait(&step.name, awaited).await;

    // A journal in order is an engine that suspends the run itself.
    let is_live = step.attached.is_live && step.journal().is_some() && !journal.in_order();
    if is_live && let Ok(Waited::Pending { until }) = waited {
        step.emit(|| EventKind::Paused(Paused::at(&step.name, awaited, until)));
        waited = journal
            .wait(&step.name, Awaited { is_live, ..awaited })
            .await;
    }

    match waited {
        Ok(Waited::Answered(answer)) => {
            step.returned(&answer);
            Ok(Some(answer))
        }
        Ok(Waited::Replayed(answer)) => {
            step.replayed();
            Ok(Some(answer))
        }
        Ok(Waited::TimedOut) => Ok(None),
        Ok(Waited::Pending { until }) => {
            let paused = Paused::at(&step.name, awaited, until);
            Err(Failure::Paused(Box::new(paused)))
        }
        Err(error) if error.is::<RefusedAnswer>() => {
            let problem = format!("the event `{}`: {error}", Name(awaited.event));
            Err(Failure::node(Phase::Exec, RefusedAnswer(problem)))
        }
        Err(error) => Err(Failure::Journal(error)),
    }
}

/// Why an attempt ends before `exec` has returned an outcome.
enum Stopped {
    /// The attempt failed. The next one makes its calls again.
    Failed(WorkError),
    /// A panic ends the attempt like an error: it would otherwise be replayed forever.
    Panicked(Box<dyn Any + Send>),
    /// The run stops. When it is resumed, it continues this attempt.
    Run(Failure),
}

impl Stopped {
    fn into_failure(self) -> Failure {
        match self {
            Self::Failed(error) => error.into(),
            Self::Panicked(panic) => resume_unwind(panic),
            Self::Run(failure) => failure,
        }
    }
}

/// The record of an attempt that is continued because calls have failed it.
#[derive(Serialize, Deserialize)]
struct Continued {
    calls: Vec<CallKey>,
    error: String,
}

/// The calls inside the `exec` of a composite step.
pub(crate) struct Calls {
    journal: Arc<dyn Journal>,
    pub(crate) step: NamedStep,
    state: Mutex<State>,
    /// The queue of calls to a journal whose calls come in order.
    turns: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    attempts: Attempts,
    /// The outcomes of calls and waits of this attempt, for a journal whose calls come in order: when
    /// the attempt is continued, their turn is over.
    known: HashMap<CallName, Option<Json>>,
    /// The number of calls that have begun and not ended.
    in_progress: usize,
    /// The waits whose events haven't arrived, by the names of their calls, because the order in which
    /// the futures of `exec` are polled may change.
    waits: BTreeMap<Option<Box<CallName>>, Paused>,
    /// Whether nothing happened since the last poll of `exec`.
    is_idle: bool,
    /// A call in order that hasn't ended in the journal. Its future may have been dropped.
    in_journal: Option<InJournal>,
    stopped: Option<Stopped>,
}

impl Calls {
    fn new(step: &NamedStep, journal: &Arc<dyn Journal>) -> Self {
        Self {
            journal: Arc::clone(journal),
            step: step.clone(),
            state: Mutex::default(),
            turns: tokio::sync::Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls one attempt at `exec` until it ends or stops.
    async fn attempt(
        &self,
        exec: impl Future<Output = Result<Json, WorkError>>,
    ) -> Result<Json, Stopped> {
        // A panic is caught here, and not only around the walk, because it has to be recorded.
        let mut exec = pin!(AssertUnwindSafe(exec).catch_unwind());

        poll_fn(|context| {
            let polled = exec.as_mut().poll(context);
            // Looked at first: `exec` may have returned because the call it raced with was stopped.
            if let Some(stopped) = self.state().stopped.take() {
                return Poll::Ready(Err(stopped));
            }

            match polled {
                Poll::Ready(Ok(done)) => Poll::Ready(done.map_err(Stopped::Failed)),
                Poll::Ready(Err(panic)) => Poll::Ready(Err(Stopped::Panicked(panic))),
                Poll::Pending => self.pause(context).map(Err),
            }
        })
        .await
    }

    /// Pauses the run if `exec` only waits for events.
    fn pause(&self, context: &Context<'_>) -> Poll<Stopped> {
        let mut state = self.state();
        // Another call may still end, and is recorded before the run pauses.
        if state.waits.is_empty() || state.in_progress > 0 {
            return Poll::Pending;
        }

        // `exec` may only have yielded to other tasks.
        if !mem::replace(&mut state.is_idle, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }

        let mut waits = mem::take(&mut state.waits).into_values();
        let Some(mut paused) = waits.next() else {
            return Poll::Pending;
        };
        paused.join(waits);
        Poll::Ready(Stopped::Run(Failure::Paused(Box::new(paused))))
    }

    /// Ends the attempt. The future that called this is dropped.
    async fn stop<T>(&self, stopped: Stopped) -> T {
        // The first reason counts, as the others follow from it.
        self.state().stopped.get_or_insert(stopped);
        pending().await
    }

    /// Stops the run because of the journal.
    pub(crate) async fn stop_at<T>(&self, problem: impl Into<BoxError>) -> T {
        self.stop(Stopped::Run(Failure::Journal(problem.into())))
            .await
    }

    /// Begins with the first attempt that isn't recorded as failed, and the calls of it that are
    /// made again.
    async fn skip_failed_attempts(&self) -> Result<(), Failure> {
        let find = async |name: StepName| self.journal.find(&name).await.map_err(Failure::Journal);

        while find(self.failure_name()).await?.is_some() {
            self.begin_next_attempt();
        }
        while let Some(record) = find(self.continuation_name()).await? {
            let continued: Result<Continued, _> = record.read();
            let continued = continued.map_err(|problem| Failure::Journal(problem.into()))?;
            self.state().attempts.continue_after(continued.calls);
        }
        Ok(())
    }

    /// Records that the attempt failed, and begins the next one, or continues this one if calls have
    /// failed it. Returns `false` if the failure was on record.
    async fn record_failure(&self, error: &str) -> Result<bool, Failure> {
        self.end_dropped().await?;

        if self.state().attempts.is_limited() {
            // The same calls lead to the same limit, unless it has been raised.
            self.state().attempts.begin_again();
            self.state().stopped = None;
            return Ok(true);
        }

        let error = shortened(error);
        let failing = self.state().attempts.take_failing();
        let (name, record) = match &failing {
            Some(calls) => {
                let calls = calls.clone();
                let record = Json::of(&Continued { calls, error });
                (self.continuation_name(), record)
            }
            None => (self.failure_name(), Json::of(&error)),
        };

        let record = record.map_err(|problem| Failure::Journal(problem.into()))?;
        let recorded = call(&*self.journal, &name, ready(Ok(record))).await?;

        match failing {
            Some(calls) => self.state().attempts.continue_after(calls),
            None => self.begin_next_attempt(),
        }
        self.state().stopped = None;
        Ok(recorded.was_made)
    }

    fn failure_name(&self) -> StepName {
        let call = self.state().attempts.failure();
        self.step.name.of_call(call)
    }

    fn continuation_name(&self) -> StepName {
        let call = self.state().attempts.continuation();
        self.step.name.of_call(call)
    }

    fn begin_next_attempt(&self) {
        let mut state = self.state();
        state.attempts.begin_next();
        state.known.clear();
    }

    /// Returns the name of the next call with this label.
    fn next(&self, label: &str) -> CallName {
        self.state().attempts.next(label)
    }

    /// Notes that a call has ended. If it failed and `exec` fails then, all calls that failed are made
    /// again. Returns whether `exec` has got an outcome of it before.
    pub(crate) fn ended(&self, call: CallKey, has_failed: bool) -> bool {
        self.state().attempts.ended(call, has_failed)
    }

    pub(crate) fn reach_limit(&self) {
        self.state().attempts.reach_limit();
    }

    /// Returns the outcome of a call or a wait whose turn is over.
    fn known(&self, call: &CallName) -> Option<Option<Json>> {
        self.state().known.get(call).cloned()
    }

    fn remember(&self, call: &CallName, outcome: Option<&Json>) {
        if self.journal.in_order() {
            let outcome = outcome.cloned();
            self.state().known.insert(call.clone(), outcome);
        }
    }

    /// Returns the name of an event with that of the step and the number of the attempt.
    pub(crate) fn scoped(&self, event: &str) -> String {
        format!("{event}{}", self.scope())
    }

    fn scope(&self) -> String {
        let attempt = self.state().attempts.number();
        format!(" at {}.{attempt}", self.step.name)
    }

    /// Does the work of a call inside `exec`, unless its outcome is recorded.
    pub(crate) async fn call(&self, label: &str, work: &mut Exec<'_>) -> (Outcome, CallKey) {
        let name = self.next(label);
        let key = (name.label.clone(), name.number);
        if let Some(Some(json)) = self.known(&name) {
            let was_made = false;
            return (Outcome { json, was_made }, key);
        }

        let step = self.step.named(self.step.name.of_call(name.clone()));
        // Named before its turn, so that calls keep the order in which they were first polled.
        let _turn = self.turn().await;

        // Without `calls`, because what is called inside the work is part of its outcome.
        let work = step.current(None).during(work);
        let outcome = if self.journal.in_order() {
            self.call_in_order(&step.name, work).await
        } else {
            call(&*self.journal, &step.name, work).await
        };

        match outcome {
            Ok(outcome) => {
                if !outcome.was_made {
                    step.replayed();
                }

                self.remember(&name, Some(&outcome.json));
                (outcome, key)
            }
            Err(StepError::Work(error)) => self.stop(Stopped::Failed(error)).await,
            Err(StepError::Journal(error)) => self.stop_at(error).await,
        }
    }

    /// Does the work of a call that ends in the journal even if this is dropped, as by a timeout around
    /// `exec`: in a replay, a journal that knows calls by their position would make it again.
    async fn call_in_order(
        &self,
        name: &Arc<StepName>,
        work: impl Future<Output = Result<Json, WorkError>>,
    ) -> Result<Outcome, StepError> {
        let (begin, begun) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let journal = Arc::clone(&self.journal);
        let name = Arc::clone(name);

        // The journal polls a stand-in for the work, which borrows from `exec`.
        let recorded = Box::pin(async move {
            let work = async {
                let _ = begin.send(());
                let dropped = || WorkError::new("the call was dropped");
                ended.await.unwrap_or_else(|_| Err(dropped()))
            };
            call(&*journal, &name, work).await
        });
        let worked = pin!(async {
            if begun.await.is_ok() {
                let _ = end.send(work.await);
            }
            // The journal still has to record the outcome, so this side must not end the `select`.
            pending::<()>().await;
        });

        // In the state and not in this future, so that it outlives a timeout around the call.
        self.state().in_journal = Some(recorded);
        match select(pin!(self.in_journal()), worked).await {
            Either::Left((Some(outcome), _)) => outcome,
            _ => pending().await,
        }
    }

    /// Polls the call in order until it ends in the journal; `None` if there is none.
    async fn in_journal(&self) -> Option<Result<Outcome, StepError>> {
        poll_fn(|context| {
            // Polled under the lock, which is safe because the work is done outside of this future.
            let mut state = self.state();
            let Some(call) = &mut state.in_journal else {
                return Poll::Ready(None);
            };

            let polled = call.as_mut().poll(context);
            if polled.is_ready() {
                state.in_journal = None;
            }
            polled.map(Some)
        })
        .await
    }

    /// Lets the journal end a call whose future was dropped.
    async fn end_dropped(&self) -> Result<(), Failure> {
        match self.in_journal().await {
            Some(Err(StepError::Journal(error))) => Err(Failure::Journal(error)),
            // Its outcome has no reader.
            _ => Ok(()),
        }
    }

    /// Waits inside `exec` for an event. Returns `None` if the wait timed out.
    pub(crate) async fn wait(&self, awaited: Awaited<'_>) -> Option<Json> {
        let scope = self.scope();
        // The name of the call already has the step and the attempt.
        let label = awaited.event.strip_suffix(&scope).unwrap_or(awaited.event);
        let name = self.next(label);
        if let Some(answer) = self.known(&name) {
            return answer;
        }

        let call = self.step.named(self.step.name.of_call(name.clone()));
        let turn = self.turn().await;

        let journal = &*self.journal;
        let failure = match wait(&call, journal, awaited).await {
            Ok(answer) => {
                self.remember(&name, answer.as_ref());
                return answer;
            }
            Err(failure) => failure,
        };

        match failure {
            // Calls that were made while the run waits would come after those of this future in a
            // replay, so only a journal that finds them by name lets them continue.
            Failure::Paused(paused) if !journal.in_order() => {
                drop(turn);
                let _waiting = Waiting::begin(self, *paused);
                pending().await
            }
            failure => self.stop(Stopped::Run(failure)).await,
        }
    }

    /// Begins a call. If calls come in order, this waits for the calls that began before. The call
    /// has its turn until what this returns is dropped.
    async fn turn(&self) -> (Begun<'_>, Option<tokio::sync::MutexGuard<'_, ()>>) {
        let begun = Begun::new(self);
        if !self.journal.in_order() {
            return (begun, None);
        }

        // The call takes its place in the queue at its first poll, and lets those that begin in the
        // same poll of `exec` take theirs: in a replay, in which nothing waits, a call that went on at
        // once would be followed by the next one of its future.
        let queued = unconstrained(self.turns.lock());
        let (queued, ()) = join(queued, yield_now()).await;
        if let Err(failure) = self.end_dropped().await {
            self.stop(Stopped::Run(failure)).await
        }

        (begun, Some(queued))
    }
}

/// Records that the attempt at the current composite step failed, before the next one is made.
/// Does nothing in any other step.
pub(crate) async fn attempt_failed(error: &BoxError) {
    let Some(calls) = current::calls() else {
        return;
    };

    // The failure is a call, too, and waits until those before it have ended.
    let _turn = calls.turn().await;
    if let Err(failure) = calls.record_failure(&error.to_string()).await {
        calls.stop(Stopped::Run(failure)).await
    }
}

/// Cuts a text for people off: an error may be a whole page of a provider, a reason a whole document.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// A call in the journal, without what it borrows from `exec`.
type InJournal = BoxFuture<'static, Result<Outcome, StepError>>;

/// A call that has begun, until this is dropped.
struct Begun<'a>(&'a Calls);

impl<'a> Begun<'a> {
    fn new(calls: &'a Calls) -> Self {
        let mut state = calls.state();
        state.in_progress += 1;
        // `exec` gets another poll before the run may pause.
        state.is_idle = false;
        Self(calls)
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.in_progress -= 1;
        state.is_idle = false;
    }
}

/// A wait whose event hasn't arrived, until this is dropped.
struct Waiting<'a> {
    calls: &'a Calls,
    call: Option<Box<CallName>>,
}

impl<'a> Waiting<'a> {
    fn begin(calls: &'a Calls, paused: Paused) -> Self {
        let call = paused.step.call.clone();
        calls.state().waits.insert(call.clone(), paused);
        Self { calls, call }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // `exec` may have stopped waiting, for example because of a timeout around the wait.
        self.calls.state().waits.remove(&self.call);
    }
}

/// Checks that an answer is a `T` that can be used.
pub(crate) fn accept<T: DeserializeOwned>(
    answer: &Json,
    check: impl Fn(&T) -> Result<(), String>,
) -> Result<(), BoxError> {
    let read = answer.read::<T>();
    let read = read.map_err(|problem| format!("the answer cannot be read: {}", problem.detail()));
    let checked = read.and_then(|answer| check(&answer));
    checked.map_err(|problem| RefusedAnswer(problem).into())
}
