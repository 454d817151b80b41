//! One attempt at a run on the engine: the calls as the run makes them, which may end anywhere.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_flow::journal::{Awaited, Items, Journal, Progress, StepError, Waited, Work};
use cogwork_flow::{BoxError, StepName};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::engine::{Call, Done, Engine, Entry, ItemsGo, Resolved, Slot, locked};
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

/// One attempt at the run. As the context of a real engine it may not outlive the call. Its items
/// go in turn; see [`FansOut`].
pub(crate) struct Attempt<'e> {
    engine: &'e Engine,
    signal: Arc<Signal>,
    position: Arc<AtomicUsize>,
    busy: AtomicBool,
}

impl<'e> Attempt<'e> {
    pub(crate) fn new(engine: &'e Engine) -> (Self, Arc<Signal>, Arc<AtomicUsize>) {
        let signal = Arc::<Signal>::default();
        let position = Arc::<AtomicUsize>::default();
        let attempt = Self {
            engine,
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

    /// Brings a step or an item to an outcome, with as many attempts as it wants.
    async fn settle<F: Future<Output = Result<Vec<u8>, Tried>>>(
        &self,
        (position, index): (usize, usize),
        step: &StepName,
        attempt: impl Fn(NonZeroU32) -> F,
    ) -> Result<Vec<u8>, StepError> {
        let key = format!("{}:{step}", self.run_id());
        loop {
            let (done, number, again_at) = self.engine.slot(position, index, |slot| {
                (
                    slot.done.clone(),
                    NonZeroU32::MIN.saturating_add(slot.attempts),
                    slot.again_at,
                )
            });

            match done {
                Some(Done::Outcome(bytes)) => return Ok(bytes),
                Some(Done::Failed(attempts, error)) => {
                    return Err(StepError::failed(attempts, error));
                }
                None => {}
            }

            if let Some(again_at) = again_at {
                sleep_until(again_at).await;
            }

            self.may_crash().await.map_err(StepError::journal)?;
            let in_flight = InFlight {
                world: &self.engine.world,
                key: &key,
                recorded: false,
            };

            let tried = attempt(number).await;
            self.may_crash().await.map_err(StepError::journal)?;
            in_flight.record(matches!(tried, Ok(_) | Err(Tried { again_in: None, .. })));
            self.engine.slot(position, index, |slot| match tried {
                Ok(bytes) => slot.done = Some(Done::Outcome(bytes)),
                Err(Tried {
                    again_in: Some(delay),
                    ..
                }) => {
                    slot.attempts = number.get();
                    slot.again_at = Some(Instant::now() + delay);
                }
                Err(Tried {
                    attempts, error, ..
                }) => slot.done = Some(Done::Failed(attempts, error)),
            });

            self.may_crash().await.map_err(StepError::journal)?;
        }
    }
}

struct Tried {
    attempts: NonZeroU32,
    error: String,
    again_in: Option<Duration>,
}

#[async_trait::async_trait]
impl Journal for Attempt<'_> {
    fn run_id(&self) -> &str {
        "r"
    }

    fn in_order(&self) -> bool {
        true
    }

    async fn step(&self, step: &StepName, work: Work<'_>) -> Result<Vec<u8>, StepError> {
        let (position, _busy) = self
            .begin(step, Call::Step(Slot::default()))
            .await
            .map_err(StepError::journal)?;
        self.settle((position, 0), step, |number| async move {
            work.attempt(number).await.map_err(|error| Tried {
                attempts: error.attempts(),
                error: error.to_string(),
                again_in: error.again_in(),
            })
        })
        .await
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

    async fn deliver(&self, event: &str, answer: Vec<u8>) -> Result<(), BoxError> {
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

/// An attempt that sends its items to another process, several at a time.
pub(crate) struct FansOut<'e>(pub(crate) Attempt<'e>);

#[async_trait::async_trait]
impl Journal for FansOut<'_> {
    fn run_id(&self) -> &str {
        self.0.run_id()
    }

    fn in_order(&self) -> bool {
        self.0.in_order()
    }

    async fn fan_out(&self, step: &StepName, items: Items<'_>) -> Result<Vec<Vec<u8>>, StepError> {
        let data: Vec<_> = (0..items.len())
            .map(|index| items.data(index))
            .collect::<Result<_, _>>()?;
        let slots = data.iter().map(|data| Slot {
            data: data.clone(),
            ..Slot::default()
        });
        let (position, _busy) = self
            .0
            .begin(step, Call::FanOut(slots.collect()))
            .await
            .map_err(StepError::journal)?;

        let place = step.place();
        let this = &self.0;
        let worker = &self.0.engine.worker;
        let place = place.as_str();
        let by_attempt = this.engine.style.items == ItemsGo::AwayByAttempt;
        let runs = data.iter().enumerate().map(|(index, data)| async move {
            let attempt = |number| async move {
                let (error, again_in) = if by_attempt {
                    match worker.attempt_item(place, data, number).await {
                        Ok(bytes) => return Ok(bytes),
                        Err(failed) => (failed.error, failed.again_in),
                    }
                } else {
                    match worker.exec_item(place, data).await {
                        Ok(bytes) => return Ok(bytes),
                        Err(error) => (error, None),
                    }
                };

                let attempts = error
                    .attempts()
                    .and_then(NonZeroU32::new)
                    .unwrap_or(NonZeroU32::MIN);
                let error = error
                    .into_source()
                    .map_or_else(String::new, |source| source.to_string());
                Err(Tried {
                    attempts,
                    error,
                    again_in,
                })
            };

            let settled = this
                .settle((position, index), &step.of_item(index), attempt)
                .await;
            settled
                .map(|bytes| (index, bytes))
                .map_err(|error| error.of_item(index))
        });

        let runs = stream::iter(runs.collect::<Vec<_>>());
        let mut outcomes: Vec<_> = runs.buffer_unordered(items.at_most()).try_collect().await?;
        outcomes.sort_unstable_by_key(|(index, _)| *index);

        Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    async fn step(&self, step: &StepName, work: Work<'_>) -> Result<Vec<u8>, StepError> {
        self.0.step(step, work).await
    }

    async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError> {
        self.0.sleep(step, duration).await
    }

    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError> {
        self.0.wait(step, awaited).await
    }

    async fn deliver(&self, event: &str, answer: Vec<u8>) -> Result<(), BoxError> {
        self.0.deliver(event, answer).await
    }

    async fn progress(&self, progress: Progress<'_>) -> Result<(), BoxError> {
        self.0.progress(progress).await
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
    fn record(mut self, settled: bool) {
        self.recorded = true;
        self.world.tell(Happened::Recorded(self.key.to_owned()));
        if settled {
            self.world.tell(Happened::Settled(self.key.to_owned()));
        }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.recorded {
            self.world.tell(Happened::Lost(self.key.to_owned()));
        }
    }
}
