//! One attempt at a run on the engine: the calls as the run makes them, which may end anywhere.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_flow::BoxError;
use cogwork_flow::engine::{
    Awaited, Journal, Json, Progress, StepError, StepName, Waited, Work, WorkError,
};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::engine::{Call, Done, Engine, Entry, Resolved, locked};
use super::world::{Happened, World};

/// Why an attempt is over before the run is.
#[derive(Debug)]
pub(crate) enum Over {
    Crashed,
    Suspended { event: String },
    Mismatch(String),
}

#[derive(Debug, thiserror::Error)]
#[error("the connection to the engine is lost")]
pub(crate) struct Crashed;

/// Tells how an attempt was ended from inside.
#[derive(Default)]
pub(crate) struct Signal {
    over: Mutex<Option<Over>>,
    told: Notify,
}

impl Signal {
    pub(crate) async fn over(&self) -> Over {
        loop {
            if let Some(over) = locked(&self.over).take() {
                return over;
            }
            self.told.notified().await;
        }
    }
}

/// One attempt at the run.
pub(crate) struct Attempt {
    engine: Arc<Engine>,
    signal: Arc<Signal>,
    position: Arc<AtomicUsize>,
    busy: AtomicBool,
}

impl Attempt {
    pub(crate) fn new(engine: &Arc<Engine>) -> (Self, Arc<Signal>, Arc<AtomicUsize>) {
        let signal = Arc::<Signal>::default();
        let position = Arc::<AtomicUsize>::default();
        let attempt = Self {
            engine: Arc::clone(engine),
            signal: Arc::clone(&signal),
            position: Arc::clone(&position),
            busy: AtomicBool::new(false),
        };

        (attempt, signal, position)
    }

    async fn end<T>(&self, over: Over) -> T {
        *locked(&self.signal.over) = Some(over);
        self.signal.told.notify_one();
        std::future::pending().await
    }

    /// A place where the process may be killed, or lose its connection.
    async fn may_crash(&self) -> Result<(), Crashed> {
        match self.engine.crashes(8) {
            true if self.engine.random(2) == 0 => self.end(Over::Crashed).await,
            true => Err(Crashed),
            false => Ok(()),
        }
    }

    /// Takes the next position for a call, and marks the attempt as busy until it is answered.
    async fn begin(&self, step: &StepName, call: Call) -> Result<(usize, Busy<'_>), Crashed> {
        let name = step.to_string();
        if self.busy.swap(true, Ordering::Relaxed) {
            return self
                .end(Over::Mismatch(format!(
                    "{name} is called while another call waits"
                )))
                .await;
        }

        let busy = Busy(&self.busy);
        self.may_crash().await?;
        let position = self.position.fetch_add(1, Ordering::Relaxed);
        let mismatch = {
            let mut journal = locked(&self.engine.journal);
            match journal.get(position) {
                None => {
                    journal.push(Entry { name, call });
                    None
                }
                Some(recorded) if recorded.name == name && recorded.call.is_like(&call) => None,
                Some(recorded) => Some(format!(
                    "call {position} is {name}, {call:?}; on record it is {recorded:?}"
                )),
            }
        };

        if let Some(mismatch) = mismatch {
            return self.end(Over::Mismatch(mismatch)).await;
        }

        self.may_crash().await?;
        Ok((position, busy))
    }

    /// Does the work of a step, unless its end is on record.
    async fn settle(
        &self,
        position: usize,
        step: &StepName,
        work: Work<'_>,
    ) -> Result<Json, StepError> {
        if let Some(done) = self.engine.done(position, |done| done.clone()) {
            return done.into();
        }

        self.may_crash().await.map_err(StepError::journal)?;
        let key = format!("{}:{step}", self.run_id());
        let in_flight = InFlight {
            world: &self.engine.world,
            key: &key,
            recorded: false,
        };

        let done = match work.await {
            Ok(outcome) => Done::Outcome(outcome),
            Err(error) => Done::Failed(error.attempts, error.to_string()),
        };
        self.may_crash().await.map_err(StepError::journal)?;
        in_flight.record();
        self.engine
            .done(position, |recorded| *recorded = Some(done.clone()));

        self.may_crash().await.map_err(StepError::journal)?;
        done.into()
    }
}

impl From<Done> for Result<Json, StepError> {
    fn from(done: Done) -> Self {
        match done {
            Done::Outcome(outcome) => Ok(outcome),
            Done::Failed(attempts, error) => {
                let error = error.into();
                Err(WorkError { attempts, error }.into())
            }
        }
    }
}

#[async_trait::async_trait]
impl Journal for Attempt {
    fn run_id(&self) -> &str {
        "r"
    }

    fn in_order(&self) -> bool {
        true
    }

    async fn call(&self, step: &StepName, work: Work<'_>) -> Result<Json, StepError> {
        let (position, _busy) = self
            .begin(step, Call::Step(None))
            .await
            .map_err(StepError::journal)?;
        self.settle(position, step, work).await
    }

    async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError> {
        let (position, _busy) = self
            .begin(
                step,
                Call::Sleep {
                    until: Instant::now() + duration,
                },
            )
            .await?;

        let until = self.engine.with(position, |call| match call {
            Call::Sleep { until } => *until,
            _ => unreachable!("it is like the call"),
        });
        sleep_until(until).await;
        Ok(self.may_crash().await?)
    }

    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError> {
        let mut until = awaited.within.map(|within| Instant::now() + within);

        // An answer that was refused took a position of its own.
        loop {
            let (position, _busy) = self
                .begin(
                    step,
                    Call::Wait {
                        until,
                        resolved: None,
                    },
                )
                .await?;

            let resolved = self.engine.with(position, |call| match call {
                Call::Wait {
                    until: recorded,
                    resolved,
                } => {
                    until = *recorded;
                    resolved.clone()
                }
                _ => unreachable!("it is like the call"),
            });

            match resolved {
                Some(Resolved::Answer(answer)) => return Ok(Waited::Answered(answer)),
                Some(Resolved::TimedOut) => return Ok(Waited::TimedOut),
                Some(Resolved::Refused) => continue,
                None => {}
            }

            let answer = locked(&self.engine.answers)
                .get_mut(awaited.event)
                .and_then(VecDeque::pop_front);
            let (now, waited) = match answer {
                Some(answer) => match awaited.accept(&answer) {
                    Ok(()) => (
                        Resolved::Answer(answer.clone()),
                        Ok(Waited::Answered(answer)),
                    ),
                    Err(error) => (Resolved::Refused, Err(error)),
                },
                None if until.is_some_and(|until| until <= Instant::now()) => {
                    (Resolved::TimedOut, Ok(Waited::TimedOut))
                }
                None if self.engine.style.suspends => {
                    return self
                        .end(Over::Suspended {
                            event: awaited.event.to_owned(),
                        })
                        .await;
                }
                None => return Ok(Waited::Pending { until: None }),
            };

            self.engine.with(position, |call| match call {
                Call::Wait { resolved, .. } => *resolved = Some(now),
                _ => unreachable!("it is like the call"),
            });
            self.may_crash().await?;
            return waited;
        }
    }

    async fn deliver(&self, event: &str, answer: Json) -> Result<(), BoxError> {
        self.engine.deliver(event, answer);
        Ok(())
    }

    async fn progress(&self, progress: Progress<'_>) -> Result<(), BoxError> {
        match progress {
            Progress::Failed { .. } => Ok(()),
            _ => Ok(self.may_crash().await?),
        }
    }
}

struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

struct InFlight<'a> {
    world: &'a World,
    key: &'a str,
    recorded: bool,
}

impl InFlight<'_> {
    fn record(mut self) {
        self.recorded = true;
        self.world.tell(Happened::Recorded(self.key.to_owned()));
        self.world.tell(Happened::Settled(self.key.to_owned()));
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.recorded {
            self.world.tell(Happened::Lost(self.key.to_owned()));
        }
    }
}
