//! A flow with its state, as a run that is polled until it waits for the host.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use cogwork_ask::read_inline;
use cogwork_flow::journal::{Entry, MemoryJournal};
use cogwork_flow::{Flow, RunError, Stepped};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Mutex;
use tokio::task::unconstrained;

use super::board::Board;
use super::entry::Budget;
use super::progress::{End, EndKind, Progress};

/// How often the model is asked again because its reply cannot be used.
pub(super) const ASKS_AGAIN: u32 = 8;

/// Longer than any session. The time of a session is measured from its record, so the clock of a
/// run must not limit it.
pub(super) const NO_TIME_LIMIT: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// What solves the problem of a session.
pub(super) trait Reasoner: Send {
    /// Returns a run that begins at a node, or at the start.
    fn run(&self, node: Option<&str>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Lowers the limits, so that the next run only asks for the best answer so far. It may ask
    /// the model this many times. No other run may be in progress.
    fn conclude(&self, calls: u32);
}

/// A flow over a state.
pub(super) struct FlowReasoner<S> {
    pub(super) flow: Arc<Flow<S>>,
    pub(super) state: Arc<Mutex<S>>,
    pub(super) board: Board,
    pub(super) progress: Progress,
    pub(super) budget: Budget,
    /// Notes what a step has changed.
    pub(super) watch: fn(&S, &Progress),
    /// Returns the state with lower limits.
    pub(super) lower: fn(&S, &Budget, u32) -> S,
}

impl<S> Clone for FlowReasoner<S> {
    fn clone(&self) -> Self {
        Self {
            flow: Arc::clone(&self.flow),
            state: Arc::clone(&self.state),
            board: self.board.clone(),
            progress: self.progress.clone(),
            ..*self
        }
    }
}

impl<S: Send + 'static> Reasoner for FlowReasoner<S> {
    fn run(&self, node: Option<&str>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let reasoner = self.clone();
        let node = node.map(str::to_owned);
        Box::pin(async move {
            let mut state = reasoner.state.lock().await;
            if let Err(error) = reasoner.walk(&mut state, node).await {
                reasoner.progress.locked().end = Some(End {
                    kind: EndKind::Failed,
                    reason: reason(error),
                });
            }
        })
    }

    fn conclude(&self, calls: u32) {
        // A run that is dropped leaves the state as its last step left it.
        if let Ok(mut state) = self.state.try_lock() {
            *state = (self.lower)(&state, &self.budget, calls);
        }
    }
}

impl<S: Send + 'static> FlowReasoner<S> {
    /// Takes steps until the run ends.
    async fn walk(&self, state: &mut S, node: Option<String>) -> Result<(), RunError> {
        // The budget ends a run before it has taken so many steps, of which a few add no thought.
        let max_steps = u64::from(self.budget.thoughts)
            .saturating_mul(4)
            .max(10_000);
        let mut run = self.flow.begin().with_max_steps(max_steps);
        if let Some(journal) = node.as_deref().and_then(journal_at) {
            run = run.with_journal_any_state(journal);
        }

        loop {
            let stepped = run.step(state).await?;
            (self.watch)(state, &self.progress);
            self.board.end_step();

            match stepped {
                Stepped::Moved { to, .. } => self.progress.locked().node = Some(to.to_owned()),
                _ => return Ok(()),
            }
        }
    }
}

/// Returns why a run failed. The flow around the node means nothing to the host.
fn reason(error: RunError) -> String {
    let whole = error.to_string();
    let source = error.into_source();
    source.map_or(whole, |source| source.to_string())
}

/// Returns a journal from which a run begins at a node.
fn journal_at(node: &str) -> Option<MemoryJournal> {
    let at = json!({"node": [node], "number": 0, "steps": 0, "state": null});
    let entry = json!({"snapshot": at}).to_string();
    let snapshot: Entry = serde_json::from_str(&entry).ok()?;
    MemoryJournal::over("", [snapshot], ()).ok()
}

/// The runtime of the timers of all runs. Nothing drives it, so no timer fires: how long the host
/// takes is measured from the record. It outlives the server's runtime, which may shut down while
/// a run is polled.
static TIMERS: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build());

/// A run in progress.
pub(super) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls a run.
pub(super) struct Machine {
    running: Option<Running>,
    woken: Arc<Woken>,
    waker: Waker,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Machine {
    pub(super) fn new(run: impl Future<Output = ()> + Send + 'static) -> Self {
        let woken = Arc::<Woken>::default();

        Self {
            // Texts are read inline, and the scheduler does not interrupt the run, so a run that
            // is pending and not woken waits for the host.
            running: Some(Box::pin(unconstrained(read_inline(run)))),
            waker: Waker::from(Arc::clone(&woken)),
            woken,
        }
    }

    /// Polls the run until it ends or waits for the host. This may take as long as reading a reply
    /// does, so it must be called on a thread for blocking work.
    pub(super) fn settle(&mut self) {
        let _timers = TIMERS.as_ref().ok().map(Runtime::enter);
        let mut context = Context::from_waker(&self.waker);
        let Some(running) = &mut self.running else {
            return;
        };

        loop {
            self.woken.0.store(false, Ordering::SeqCst);
            if running.as_mut().poll(&mut context).is_ready() {
                self.running = None;
                return;
            }
            if !self.woken.0.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }
}
