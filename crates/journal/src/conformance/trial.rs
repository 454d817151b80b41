//! One run on the subject, through any number of crashes.

use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use cogwork_flow::{BoxError, Proceeded, Run};

use super::flows::{Built, EVENT, Kind};
use super::suite::{Checked, equal, unexpected};
use super::world::{Halts, Moment, World};
use super::{Attempt, Open, State, Stopped, TestedEngine, TestedStore};
use crate::{StoreError, StoreErrorKind};

/// The answer to each question.
const ANSWER: &str = "7";

/// How long an attempt may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// The maximum number of attempts at one run.
const MAX_ATTEMPTS: usize = 150;

/// A run, its flow, and the calls of its nodes.
pub(super) struct Trial {
    pub(super) world: World,
    pub(super) attempt: Attempt,
    /// When each process ended that was stopped.
    crashes: Vec<Moment>,
}

impl Trial {
    pub(super) fn named(
        run_id: &str,
        define: impl FnOnce(&World) -> Built,
        input: &[u64],
    ) -> Result<Self, BoxError> {
        let world = World::of(run_id);
        let flow = define(&world)?;
        Ok(Self {
            world,
            attempt: Attempt {
                run_id: run_id.to_owned(),
                flow: Arc::new(flow),
                input: input.to_vec(),
            },
            crashes: Vec::new(),
        })
    }

    /// Returns a run with an id that no other run of this process has.
    pub(super) fn new(
        define: impl FnOnce(&World) -> Built,
        input: &[u64],
    ) -> Result<Self, BoxError> {
        Self::named(&unique(), define, input)
    }

    pub(super) fn of(kind: &Kind) -> Result<Self, BoxError> {
        Self::new(kind.define, kind.input)
    }

    /// Returns the same run with a different flow, which counts its calls together with this one.
    pub(super) fn changed(&self, define: fn(&World) -> Built) -> Result<Self, BoxError> {
        let flow = Arc::new(define(&self.world)?);
        Ok(Self {
            world: self.world.clone(),
            attempt: Attempt {
                flow,
                ..self.attempt.clone()
            },
            crashes: Vec::new(),
        })
    }

    /// Executes the run until it stops, or until it halts at a call. Returns `None` for the latter.
    pub(super) async fn proceed(
        &mut self,
        engine: &dyn TestedEngine,
    ) -> Result<Option<Stopped>, StoreError> {
        let proceeding = engine.proceed(self.attempt.clone());
        let stopped = tokio::select! {
            biased;
            // First, since a process that was never polled cannot crash.
            stopped = tokio::time::timeout(PATIENCE, proceeding) => Some(stopped),
            () = self.world.halted() => None,
        };

        match stopped {
            Some(Ok(stopped)) => stopped.map(Some),
            Some(Err(_)) => {
                let text = "the attempt neither ended nor stopped within 60 seconds";
                Err(StoreError::new(StoreErrorKind::Other, text))
            }
            None => {
                self.crashes.push(self.world.now());
                self.world.release();
                Ok(None)
            }
        }
    }

    /// Executes the run until its process crashes at the call with this number.
    pub(super) async fn crash_at(&mut self, engine: &dyn TestedEngine, call: usize) -> Checked {
        self.world.halt(Halts::At(call));
        let crashed = self.proceed(engine).await?;
        equal(format_args!("at call {call}"), &None, &crashed)
    }

    /// Executes the run in a process that ends after the future was polled so often. Returns
    /// whether it stopped before that.
    pub(super) async fn proceed_for(
        &mut self,
        engine: &dyn TestedEngine,
        polls: usize,
    ) -> Result<bool, StoreError> {
        let mut proceeding = engine.proceed(self.attempt.clone());
        let mut left = polls;
        let stopped = std::future::poll_fn(|context| {
            left = left.saturating_sub(1);
            match proceeding.as_mut().poll(context) {
                Poll::Pending if left == 0 => Poll::Ready(None),
                polled => polled.map(Some),
            }
        })
        .await;

        // The process ends before its calls are counted.
        drop(proceeding);
        match stopped {
            Some(stopped) => stopped.map(|_| true),
            None => {
                self.crashes.push(self.world.now());
                Ok(false)
            }
        }
    }

    /// Executes the run until it ends or fails, however often it crashes, and answers its questions.
    pub(super) async fn until_the_end(
        &mut self,
        engine: &dyn TestedEngine,
    ) -> Result<Stopped, BoxError> {
        for _ in 0..MAX_ATTEMPTS {
            match self.proceed(engine).await? {
                Some(Stopped::Waiting { event, .. }) if event == EVENT => {
                    self.deliver(engine, EVENT, ANSWER).await?;
                }
                Some(Stopped::Waiting { until, .. }) => sleep_until(until).await,
                Some(stopped) => return Ok(stopped),
                None => {}
            }
        }

        let at = format!("run `{}`", self.attempt.run_id);
        unexpected(at, "its end", &format_args!("{MAX_ATTEMPTS} attempts"))
    }

    pub(super) async fn deliver(
        &self,
        engine: &dyn TestedEngine,
        event: &str,
        answer: &str,
    ) -> Result<(), StoreError> {
        engine.deliver(&self.attempt.run_id, event, answer).await
    }

    /// Checks what each process did after the crash of the one before it.
    pub(super) fn check_calls(&self, at_once: usize) -> Checked {
        let calls = self.world.calls();
        let ends = self.crashes.iter().skip(1).map(|crash| crash.calls);
        let ends = ends.chain([calls.len()]);

        for (crash, end) in self.crashes.iter().zip(ends) {
            let before: BTreeSet<_> = calls.iter().take(crash.calls).collect();
            let after = calls.iter().take(end).skip(crash.calls);
            let repeated: BTreeSet<_> = after.filter(|step| before.contains(step)).collect();
            let used = repeated.iter().find(|step| crash.used.contains(**step));
            let at = format!("after a crash at call {}", crash.calls);

            if let Some(step) = used {
                let expected = format_args!("the recorded outcome of `{step}`, which was used");
                return unexpected(at, expected, &"the same call once more");
            }
            // Calls in progress may not be on record yet, so they may be made again.
            if repeated.len() > at_once {
                let expected = format_args!("at most {at_once} calls that are made again");
                return unexpected(at, expected, &repeated);
            }
        }

        Ok(())
    }
}

/// Returns an id that no other run of this process has.
pub(super) fn unique() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("run-{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

async fn sleep_until(until: Option<SystemTime>) {
    let left = until.and_then(|until| until.duration_since(SystemTime::now()).ok());
    // At most a second, so that a clock that is ahead doesn't stop the suite.
    let left = left.unwrap_or_default().min(Duration::from_secs(1));
    tokio::time::sleep(left + Duration::from_millis(2)).await;
}

/// The engine that consists of a store and this process.
pub(super) struct StoreEngine {
    store: Arc<dyn TestedStore>,
    /// After how many steps each time it takes a snapshot.
    fold_every: Option<NonZeroU64>,
}

impl StoreEngine {
    pub(super) fn over(store: Arc<dyn TestedStore>) -> Self {
        Self {
            store,
            fold_every: None,
        }
    }

    pub(super) fn folding(store: Arc<dyn TestedStore>, every: u64) -> Self {
        Self {
            fold_every: NonZeroU64::new(every),
            ..Self::over(store)
        }
    }
}

#[async_trait]
impl TestedEngine for StoreEngine {
    async fn proceed(&self, attempt: Attempt) -> Result<Stopped, StoreError> {
        let opened = self.store.open(Open::StartOrResume, &attempt).await?;
        let mut run = attempt.flow.begin().with_journal(opened.journal);
        if let Some(steps) = self.fold_every {
            run = run.with_fold_every(steps);
        }

        finish(run, opened.state).await
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), StoreError> {
        self.store.deliver(run_id, event, answer).await
    }
}

/// Executes a run until it stops.
pub(super) async fn finish(
    mut run: Run<'_, State>,
    mut state: State,
) -> Result<Stopped, StoreError> {
    match run.proceed(&mut state).await {
        Ok(Proceeded::Ended(ended)) => Ok(Stopped::Ended {
            state,
            steps: ended.steps,
        }),
        Ok(Proceeded::Paused(paused)) => Ok(Stopped::Waiting {
            event: paused.event,
            until: paused.until,
        }),
        // An error of the store must not be taken for one of the run.
        Err(error) if error.is_journal() => Err(StoreError::new(StoreErrorKind::Other, error)),
        Err(error) if error.is_cancelled() => Ok(Stopped::Cancelled),
        Err(error) => Ok(Stopped::Failed {
            error: error.to_string(),
        }),
    }
}
