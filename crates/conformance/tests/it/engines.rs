//! Engines with mistakes that a store cannot make.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cogwork_conformance::{
    Ability, Attempt, MemoryEngine, Refusal, RefusalKind, Stopped, TestedEngine, execute,
};
use cogwork_flow::journal::{Awaited, Journal, MemoryJournal, StepError, Waited, Work};
use cogwork_flow::{BoxError, StepName};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    None,
    /// Reports a failure as the end.
    HidesFailures,
    /// Sleeps for no time.
    SkipsSleeps,
    /// Continues runs that were cancelled.
    ForgetsCancellation,
    /// Begins each time at the start.
    ForgetsEverything,
}

/// An engine in memory that can also cancel runs.
pub(crate) struct OwnEngine {
    memory: MemoryEngine,
    cancelled: Mutex<HashSet<String>>,
    mistake: Mistake,
}

impl OwnEngine {
    pub(crate) fn new(mistake: Mistake) -> Self {
        Self {
            memory: MemoryEngine::new(),
            cancelled: Mutex::default(),
            mistake,
        }
    }

    fn is_cancelled(&self, run_id: &str) -> bool {
        self.cancelled.lock().unwrap().contains(run_id)
    }
}

#[async_trait]
impl TestedEngine for OwnEngine {
    fn name(&self) -> String {
        format!("{:?}", self.mistake)
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::Cancellation => None,
            _ => self.memory.lacks(ability),
        }
    }

    async fn proceed(&self, attempt: Attempt) -> Result<Stopped, Refusal> {
        if self.is_cancelled(&attempt.run_id) && self.mistake != Mistake::ForgetsCancellation {
            return Ok(Stopped::Cancelled);
        }

        let state = attempt.input.clone();
        let stopped = match self.mistake {
            Mistake::SkipsSleeps | Mistake::ForgetsEverything => {
                let journal = Mistaken(MemoryJournal::new(&attempt.run_id), self.mistake);
                execute(&attempt.flow, journal, state).await
            }
            _ => self.memory.proceed(attempt).await,
        };
        match stopped {
            Ok(Stopped::Failed { .. }) if self.mistake == Mistake::HidesFailures => {
                Ok(Stopped::Ended {
                    state: Vec::new(),
                    steps: 1,
                })
            }
            stopped => stopped,
        }
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal> {
        if self.is_cancelled(run_id) {
            return Err(Refusal::new(RefusalKind::Ended, "the run was cancelled"));
        }
        self.memory.deliver(run_id, event, answer).await
    }

    async fn cancel(&self, run_id: &str) -> Result<(), BoxError> {
        self.cancelled.lock().unwrap().insert(run_id.to_owned());
        Ok(())
    }
}

struct Mistaken(MemoryJournal, Mistake);

#[async_trait]
impl Journal for Mistaken {
    fn run_id(&self) -> &str {
        self.0.run_id()
    }

    async fn step(&self, step: &StepName, work: Work<'_>) -> Result<Vec<u8>, StepError> {
        self.0.step(step, work).await
    }

    async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError> {
        match self.1 {
            Mistake::SkipsSleeps => Ok(()),
            _ => self.0.sleep(step, duration).await,
        }
    }

    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError> {
        self.0.wait(step, awaited).await
    }

    async fn deliver(&self, event: &str, answer: Vec<u8>) -> Result<(), BoxError> {
        self.0.deliver(event, answer).await
    }
}

/// A type that can be shared is enough for the suite.
#[test]
fn an_engine_can_be_shared() {
    let _: Arc<dyn TestedEngine> = Arc::new(OwnEngine::new(Mistake::None));
}
