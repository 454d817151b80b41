//! One run on the subject, through any number of crashes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use cogwork_flow::Flow;

use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::flows::{EVENT, Kind};
use crate::conformance::world::{Moment, World};
use crate::conformance::{Attempt, Refusal, State, Stopped, TestedEngine};

/// The answer to each question.
const ANSWER: &str = "7";

/// How long an attempt may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// The maximum number of attempts at one run.
const MAX_ATTEMPTS: usize = 60;

/// Returns an id that no other run of this process has.
pub(crate) fn unique(name: &str) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{name}-{number}")
}

/// A run, its flow and the calls of its nodes, without an engine.
pub(crate) struct Case {
    pub(crate) world: World,
    pub(crate) attempt: Attempt,
}

impl Case {
    pub(crate) fn new(
        run_id: String,
        define: impl FnOnce(&World) -> crate::conformance::flows::Built,
        input: &[u64],
    ) -> Result<Self, BrokenPromise> {
        let world = World::of(&run_id);
        let flow = define(&world)?;
        Ok(Self {
            world,
            attempt: Attempt {
                run_id,
                flow: Arc::new(flow),
                input: input.to_vec(),
            },
        })
    }

    /// The run of a kind of flow, with an id of its own.
    pub(crate) fn of(kind: &Kind) -> Result<Self, BrokenPromise> {
        Self::new(unique("run"), kind.define, kind.input)
    }
}

pub(crate) struct Trial<'e> {
    engine: &'e dyn TestedEngine,
    pub(crate) world: World,
    pub(crate) attempt: Attempt,
    /// When each process ended that was stopped.
    pub(crate) crashes: Vec<Moment>,
}

impl<'e> Trial<'e> {
    pub(crate) fn new(
        engine: &'e dyn TestedEngine,
        run_id: String,
        define: impl FnOnce(&World) -> crate::conformance::flows::Built,
        input: &[u64],
    ) -> Result<Self, BrokenPromise> {
        let Case { world, attempt } = Case::new(run_id, define, input)?;
        Ok(Self {
            engine,
            world,
            attempt,
            crashes: Vec::new(),
        })
    }

    /// Replaces the flow, as a new version of the program would.
    pub(crate) fn with_flow(&mut self, flow: Flow<State>) {
        self.attempt.flow = Arc::new(flow);
    }

    /// Executes the run until it stops, or until it halts at a call. Returns `None` for the latter.
    pub(crate) async fn proceed(&mut self) -> Result<Option<Stopped>, Refusal> {
        let proceeding = self.engine.proceed(self.attempt.clone());
        let stopped = tokio::select! {
            biased;
            // First, since a process that was never polled cannot crash.
            stopped = tokio::time::timeout(PATIENCE, proceeding) => Some(stopped),
            () = self.world.halted() => None,
        };

        match stopped {
            Some(Ok(stopped)) => stopped.map(Some),
            Some(Err(_)) => Err(Refusal::new(
                crate::conformance::RefusalKind::Other,
                "the attempt neither ended nor stopped within 60 seconds",
            )),
            None => {
                self.crashes.push(self.world.now());
                self.world.release();
                Ok(None)
            }
        }
    }

    /// Executes the run until its process crashes at the call with this number.
    pub(crate) async fn crash_at(&mut self, call: usize) -> Checked {
        self.world.halt_at(call);
        let crashed = self.proceed().await?;
        equal(format_args!("at call {call}"), &None, &crashed)
    }

    /// Executes the run in a process that ends after the future was polled so often. Returns
    /// whether it stopped before that.
    pub(crate) async fn proceed_for(&mut self, polls: usize) -> Result<bool, Refusal> {
        let mut proceeding = self.engine.proceed(self.attempt.clone());
        let mut left = polls;
        let stopped = std::future::poll_fn(|context| {
            left = left.saturating_sub(1);
            match proceeding.as_mut().poll(context) {
                Poll::Pending if left == 0 => Poll::Ready(None),
                polled => polled.map(Some),
            }
        })
        .await;

        drop(proceeding);
        match stopped {
            Some(stopped) => stopped.map(|_| true),
            None => {
                self.crashes.push(self.world.now());
                Ok(false)
            }
        }
    }

    /// Executes the run until it crashes, ends or fails, and answers its questions.
    pub(crate) async fn until_stopped(&mut self) -> Result<Option<Stopped>, BrokenPromise> {
        for _ in 0..MAX_ATTEMPTS {
            match self.proceed().await? {
                Some(Stopped::Waiting { event, .. }) if event == EVENT => self.answer().await?,
                Some(Stopped::Waiting { until, .. }) => sleep_until(until).await,
                stopped => return Ok(stopped),
            }
        }

        unexpected(
            format_args!("run `{}`", self.attempt.run_id),
            "the end of the run",
            &format_args!("a run that still waits after {MAX_ATTEMPTS} attempts"),
        )
    }

    /// Executes the run until it ends or fails, however often it crashes.
    pub(crate) async fn until_the_end(&mut self) -> Result<Stopped, BrokenPromise> {
        loop {
            if let Some(stopped) = self.until_stopped().await? {
                return Ok(stopped);
            }
        }
    }

    pub(crate) async fn answer(&self) -> Result<(), Refusal> {
        self.deliver(EVENT, ANSWER).await
    }

    pub(crate) async fn deliver(&self, event: &str, answer: &str) -> Result<(), Refusal> {
        let run_id = &self.attempt.run_id;
        self.engine.deliver(run_id, event, answer).await
    }

    /// Checks what each process did after the crash of the one before it.
    pub(crate) fn check_calls(&self, at_once: usize) -> Checked {
        let calls = self.world.calls();
        let ends = self.crashes.iter().skip(1).map(|crash| crash.calls);
        let ends = ends.chain([calls.len()]);

        for (crash, end) in self.crashes.iter().zip(ends) {
            let before: BTreeSet<_> = calls.iter().take(crash.calls).collect();
            let after = calls.iter().take(end).skip(crash.calls);
            let repeated: BTreeSet<_> = after.filter(|step| before.contains(step)).collect();
            let at = format!("after a crash at call {}", crash.calls);

            if let Some(step) = repeated.iter().find(|step| crash.used.contains(**step)) {
                return unexpected(
                    at,
                    format_args!(
                        "the recorded outcome of `{step}`, which had been used before the crash"
                    ),
                    &format_args!("the same call once more"),
                );
            }
            if repeated.len() > at_once {
                return unexpected(
                    at,
                    format_args!(
                        "at most {at_once} repeated calls, which were in progress at the crash"
                    ),
                    &format_args!("{} repeated calls: {repeated:?}", repeated.len()),
                );
            }
        }

        Ok(())
    }
}

async fn sleep_until(until: Option<SystemTime>) {
    let left = until.and_then(|until| until.duration_since(SystemTime::now()).ok());
    let left = left.unwrap_or_default().min(Duration::from_secs(1));
    tokio::time::sleep(left + Duration::from_millis(2)).await;
}
