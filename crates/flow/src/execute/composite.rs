//! The `exec` of a composite node, whose calls are recorded one by one.
//!
//! 1. [`exec`] looks up the outcome of the whole step, and otherwise makes attempts at it. Each
//!    attempt has a number that is part of the names of its calls. An attempt that failed is
//!    recorded, so that the next one makes its calls again.
//! 2. [`attempt`] polls the `exec` of the node. The calls in it send requests through [`Calls`],
//!    because the journal cannot be stored where they would find it: it may not outlive the run.
//! 3. [`Serving`] polls the journal for these requests.
//! 4. [`call`], [`wait`] and [`attempt_failed`] are the other end, inside `exec`. The work of a
//!    call is polled there, since it may borrow from `exec`.

use std::any::Any;
use std::future::{pending, poll_fn};
use std::mem;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use super::calls::{Calls, Question, Request, Requested, Stopped};
use super::failure::Failure;
use super::journaled::Journaled;
use super::named_step::NamedStep;
use super::waiting::{self, Arrived};
use crate::boxed::BoxFuture;
use crate::current::{self, Current};
use crate::failed::Failed;
use crate::journal::{
    Awaited, CallError, Make, OutcomeProblem, OutcomeProblemKind, StepProblem, Work, WorkError,
    decode, encode,
};
use crate::{BoxError, Node, Paused, Phase, StepName};

/// The maximum length of a recorded error, in characters.
const MAX_ERROR: usize = 10_000;

/// Returns the outcome of a composite step.
pub(crate) async fn exec<S, N: Node<S>>(
    node: &N,
    prep: &N::Prep,
    step: &NamedStep<'_>,
    journal: &Journaled<'_>,
) -> Result<N::Exec, Failure> {
    let recorded = journal.find(&step.name).await.map_err(Failure::Journal)?;
    if let Some(bytes) = recorded {
        step.replayed();
        return read(&bytes);
    }

    let calls = Arc::new(Calls::new(
        Arc::clone(&step.name),
        step.attached.watch.clone(),
        Arc::clone(&journal.run),
        journal.max_outcome,
    ));
    calls.skip_failed_attempts(journal).await?;

    loop {
        let failed = match attempt(node, prep, step, journal, &calls).await {
            Ended::Done(exec) => match record(exec, step, journal).await {
                Ok(exec) => return Ok(exec),
                Err(Stopped::Failed(failed)) => Failing::Error(failed),
                Err(Stopped::Run(failure)) => return Err(failure),
            },
            Ended::Failed(failing) => failing,
            Ended::Stopped(failure) => return Err(failure),
        };

        let seen = calls.record_failure(journal, &failed.text()).await?;
        calls.begin_next_attempt();

        // A journal that finds nothing replays the failed attempts of earlier runs.
        if seen == Seen::Now {
            return Err(failed.into_failure());
        }
    }
}

/// Records the outcome of the step as a whole, so that later replays need none of its calls.
async fn record<T: Serialize + DeserializeOwned>(
    exec: T,
    step: &NamedStep<'_>,
    journal: &Journaled<'_>,
) -> Result<T, Stopped> {
    let bytes = encode(&exec, journal.max_outcome).map_err(Stopped::unrecordable)?;

    // A run must see the same outcome as its replay.
    let exec = decode(&bytes, OutcomeProblemKind::NotRecordable).map_err(Stopped::unrecordable)?;
    let ready = Ready::new(bytes);
    let recorded = journal.step(&step.name, Work::new(&ready)).await;
    let recorded = recorded.map_err(|error| Stopped::Run(error.into()))?;

    match ready.seen() {
        Seen::Now => Ok(exec),
        Seen::Before => read(&recorded).map_err(Stopped::Run),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    let outcome = decode(bytes, OutcomeProblemKind::Unreadable);
    outcome.map_err(|problem| Failure::Journal(problem.into()))
}

/// The end of an attempt.
enum Ended<T> {
    Done(T),
    /// The attempt failed. The next one makes its calls again.
    Failed(Failing),
    /// The run stops. When it is resumed, it continues this attempt.
    Stopped(Failure),
}

/// What made an attempt fail.
enum Failing {
    Error(Failed),
    Panic(Box<dyn Any + Send>),
}

impl Failing {
    fn text(&self) -> String {
        match self {
            Self::Error(failed) => failed.source.to_string(),
            Self::Panic(_) => "it panicked".to_owned(),
        }
    }

    fn into_failure(self) -> Failure {
        match self {
            Self::Error(failed) => failed.into(),
            Self::Panic(panic) => resume_unwind(panic),
        }
    }
}

/// Makes one attempt at `exec`, and serves its calls.
async fn attempt<S, N: Node<S>>(
    node: &N,
    prep: &N::Prep,
    step: &NamedStep<'_>,
    journal: &Journaled<'_>,
    calls: &Arc<Calls>,
) -> Ended<N::Exec> {
    let exec = pin!(node.exec(prep));
    let exec = step.exec_composite(Arc::clone(calls), exec);

    // A panic ends the attempt like an error: it would otherwise be replayed forever.
    let mut exec = pin!(AssertUnwindSafe(exec).catch_unwind());
    let mut serving = Serving::new(calls, journal);

    poll_fn(|context| {
        loop {
            if let Poll::Ready(done) = exec.as_mut().poll(context) {
                return Poll::Ready(ended(done));
            }

            match serving.poll(context) {
                // `exec` can continue.
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(Stopped::Failed(failed))) => {
                    return Poll::Ready(Ended::Failed(Failing::Error(failed)));
                }
                Poll::Ready(Err(Stopped::Run(failure))) => {
                    return Poll::Ready(Ended::Stopped(failure));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}

fn ended<T, E: Into<BoxError>>(done: std::thread::Result<Result<T, E>>) -> Ended<T> {
    match done {
        Ok(Ok(exec)) => Ended::Done(exec),
        Ok(Err(error)) => Ended::Failed(Failing::Error(Failed::new(Phase::Exec, error))),
        Err(panic) => Ended::Failed(Failing::Panic(panic)),
    }
}

/// Whether an entry was recorded just now or earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Now,
    Before,
}

impl Calls {
    /// Begins with the first attempt that isn't recorded as failed.
    async fn skip_failed_attempts(&self, journal: &Journaled<'_>) -> Result<(), Failure> {
        loop {
            let failure = journal.find(&self.failure_name()).await;
            if failure.map_err(Failure::Journal)?.is_none() {
                return Ok(());
            }

            self.begin_next_attempt();
        }
    }

    /// Records that the attempt failed.
    async fn record_failure(&self, journal: &Journaled<'_>, error: &str) -> Result<Seen, Failure> {
        let error: String = error.chars().take(MAX_ERROR).collect();
        let bytes = encode(&error, usize::MAX).map_err(|error| Failure::Journal(error.into()))?;
        let ready = Ready::new(bytes);
        journal
            .step(&self.failure_name(), Work::new(&ready))
            .await?;

        Ok(ready.seen())
    }
}

/// The calls of an attempt that the journal is serving.
struct Serving<'a> {
    calls: &'a Calls,
    journal: &'a Journaled<'a>,
    in_order: bool,
    /// The requests that wait for earlier ones, in reverse order.
    queue: Vec<Request>,
    busy: FuturesUnordered<BoxFuture<'a, Result<Served, Stopped>>>,
    pauses: Vec<Pause>,
    /// Whether `exec` didn't continue when it was polled last, and no call was in progress.
    was_idle: bool,
}

/// A request that the journal has served.
enum Served {
    Answered,
    Paused(Pause),
}

/// A wait whose event hasn't arrived.
struct Pause {
    paused: Box<Paused>,
    reply: oneshot::Sender<Arrived>,
}

impl<'a> Serving<'a> {
    fn new(calls: &'a Calls, journal: &'a Journaled<'a>) -> Self {
        Self {
            calls,
            journal,
            in_order: journal.in_order(),
            queue: Vec::new(),
            busy: FuturesUnordered::new(),
            pauses: Vec::new(),
            was_idle: false,
        }
    }

    /// Polls the journal after `exec` was polled. Returns `Ok` once `exec` can continue.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Stopped>> {
        self.take_requests()?;

        let mut can_continue = false;
        loop {
            self.begin_to_serve();
            match self.busy.poll_next_unpin(context) {
                Poll::Ready(Some(Ok(Served::Answered))) => can_continue = true,
                Poll::Ready(Some(Ok(Served::Paused(pause)))) => self.pauses.push(pause),
                Poll::Ready(Some(Err(stopped))) => return Poll::Ready(Err(stopped)),
                Poll::Ready(None) | Poll::Pending => break,
            }

            // Calls that were made while the run waits would come after those of the waiting
            // future in a replay.
            if self.in_order && !self.pauses.is_empty() {
                return self.pause();
            }
        }

        if can_continue {
            self.was_idle = false;
            return Poll::Ready(Ok(()));
        }

        self.pauses.retain(|pause| !pause.reply.is_closed());
        if self.pauses.is_empty() || !self.busy.is_empty() {
            return Poll::Pending;
        }

        // `exec` may only have yielded to other tasks.
        if !mem::replace(&mut self.was_idle, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }

        self.pause()
    }

    fn take_requests(&mut self) -> Result<(), Stopped> {
        let mut state = self.calls.state();
        if let Some(stopped) = state.stopped.take() {
            return Err(stopped);
        }

        let new = mem::take(&mut state.requests);
        if !new.is_empty() {
            self.was_idle = false;
            self.queue.splice(0..0, new.into_iter().rev());
        }

        Ok(())
    }

    /// Begins with the requests that don't have to wait for others.
    fn begin_to_serve(&mut self) {
        while !self.in_order || self.busy.is_empty() {
            let Some(request) = self.queue.pop() else {
                return;
            };

            self.busy
                .push(Box::pin(serve(self.calls, self.journal, request)));
        }
    }

    fn pause(&mut self) -> Poll<Result<(), Stopped>> {
        let mut pauses = mem::take(&mut self.pauses);

        // By name, because the order in which the futures of `exec` are polled may change.
        pauses.sort_by(|one, other| one.paused.step.call.cmp(&other.paused.step.call));
        let mut pauses = pauses.into_iter().map(|pause| pause.paused);

        let Some(mut first) = pauses.next() else {
            return Poll::Pending;
        };

        first.join(pauses.map(|paused| *paused));
        let failure = Failure::Paused(first);
        Poll::Ready(Err(Stopped::Run(failure)))
    }
}

async fn serve(
    calls: &Calls,
    journal: &Journaled<'_>,
    request: Request,
) -> Result<Served, Stopped> {
    match request {
        Request::Call { name, work, reply } => {
            let recorded = journal.step(&name, Work::new(&work)).await;
            let was_made = work.was_made();

            // Tells the call that it has an outcome, unless it was made.
            drop(work);

            match recorded {
                Ok(bytes) => {
                    if !was_made {
                        calls.replayed(name);
                    }

                    // Nobody receives the outcome of a call that was dropped.
                    let _ = reply.send(bytes);
                }
                Err(error) => match error.0 {
                    StepProblem::Work(_) if reply.is_closed() => {}
                    StepProblem::Work(failed) => return Err(Stopped::Failed(failed)),
                    StepProblem::Journal(error) => {
                        return Err(Stopped::Run(Failure::Journal(error)));
                    }
                },
            }
        }
        Request::Wait {
            name,
            question,
            reply,
        } => {
            let awaited = Awaited {
                event: &question.event,
                why: &question.why,
                within: question.within,
                schema: None,
                accept: &question.accept,
            };

            match waiting::wait(&**journal, &name, awaited).await {
                Ok(arrived) => {
                    let _ = reply.send(arrived);
                }
                Err(Failure::Paused(paused)) => {
                    return Ok(Served::Paused(Pause { paused, reply }));
                }
                Err(failure) => return Err(Stopped::Run(failure)),
            }
        }
        Request::Failure { error, reply } => {
            let recorded = calls.record_failure(journal, &error).await;
            recorded.map_err(Stopped::Run)?;

            calls.begin_next_attempt();
            let _ = reply.send(());
        }
    }

    Ok(Served::Answered)
}

/// Work that is already done.
struct Ready {
    bytes: Vec<u8>,
    was_used: AtomicBool,
}

impl Ready {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            was_used: AtomicBool::new(false),
        }
    }

    fn seen(&self) -> Seen {
        if self.was_used.load(Ordering::Relaxed) {
            Seen::Now
        } else {
            Seen::Before
        }
    }
}

impl Make for Ready {
    fn make(&self) -> BoxFuture<'_, Result<Vec<u8>, WorkError>> {
        self.was_used.store(true, Ordering::Relaxed);
        Box::pin(async { Ok(self.bytes.clone()) })
    }
}

/// Makes a call inside `exec`, or returns its recorded outcome.
pub(crate) async fn call<T, E, F>(
    calls: Arc<Calls>,
    label: &str,
    work: impl FnOnce() -> F,
) -> Result<T, CallError<E>>
where
    T: Serialize + DeserializeOwned,
    E: std::fmt::Display,
    F: Future<Output = Result<T, E>>,
{
    let name = calls.next_name(label);
    let (request, requested) = oneshot::channel();
    let (reply, replied) = oneshot::channel();
    calls.request(Request::Call {
        name: Arc::clone(&name),
        work: Requested::new(request),
        reply,
    });

    // The journal drops the request if it has an outcome.
    let Ok(made) = requested.await else {
        return match read::<Result<T, String>>(&received(replied).await) {
            Ok(outcome) => outcome.map_err(CallError::Recorded),
            Err(failure) => calls.stopped_by(Stopped::Run(failure)).await,
        };
    };

    let outcome = calls.during(name, pin!(work())).await;
    let encoded = match to_record(&outcome, calls.max_outcome) {
        Ok(encoded) => encoded,
        Err(problem) => return calls.stopped_by(Stopped::unrecordable(problem)).await,
    };

    let Encoded { bytes, read_back } = encoded;
    let _ = made.send(bytes);
    received(replied).await;

    match (outcome, read_back) {
        (Err(error), _) => Err(CallError::Failed(error)),
        (Ok(_), Ok(value)) => Ok(value),
        (Ok(_), Err(error)) => Err(CallError::Recorded(error)),
    }
}

/// The outcome of a call in its recorded form.
struct Encoded<T> {
    bytes: Vec<u8>,
    /// The outcome as a replay will see it.
    read_back: Result<T, String>,
}

fn to_record<T, E>(outcome: &Result<T, E>, max_outcome: usize) -> Result<Encoded<T>, OutcomeProblem>
where
    T: Serialize + DeserializeOwned,
    E: std::fmt::Display,
{
    let outcome: Result<&T, String> = outcome
        .as_ref()
        .map_err(|error| error.to_string().chars().take(MAX_ERROR).collect());
    let bytes = encode(&outcome, max_outcome)?;
    let read_back = decode(&bytes, OutcomeProblemKind::NotRecordable)?;

    Ok(Encoded { bytes, read_back })
}

/// Waits inside `exec` for an event. Returns `None` if the wait timed out.
pub(crate) async fn wait<T: DeserializeOwned>(calls: Arc<Calls>, question: Question) -> Option<T> {
    let name = calls.next_name(calls.unscoped(&question.event));
    let (reply, replied) = oneshot::channel();
    calls.request(Request::Wait {
        name,
        question,
        reply,
    });

    let answer = match received(replied).await {
        Arrived::Answer(answer) => answer,
        Arrived::TimedOut => return None,
    };

    match read(&answer) {
        Ok(answer) => Some(answer),
        Err(failure) => calls.stopped_by(Stopped::Run(failure)).await,
    }
}

/// Records that the attempt at the current composite step failed, before the next one is made.
/// Does nothing in any other step.
pub(crate) async fn attempt_failed(error: &BoxError) {
    let Some(calls) = current::composite() else {
        return;
    };

    let (reply, replied) = oneshot::channel();
    calls.request(Request::Failure {
        error: error.to_string(),
        reply,
    });
    received(replied).await;
}

/// Returns the reply of the journal. If there is none, the run stops and drops this future.
async fn received<T>(reply: oneshot::Receiver<T>) -> T {
    match reply.await {
        Ok(reply) => reply,
        Err(_) => pending().await,
    }
}

impl Calls {
    /// Runs the work of a call with the call as the current step.
    async fn during<T>(&self, name: Arc<StepName>, work: Pin<&mut impl Future<Output = T>>) -> T {
        let current = Current::Step {
            name,
            watch: self.watch.clone(),
            run: Some(Arc::clone(&self.run)),
        };

        current.during(work).await
    }

    /// Ends the attempt. The future that called this is dropped.
    async fn stopped_by<T>(&self, stopped: Stopped) -> T {
        self.stop(stopped);
        pending().await
    }
}
