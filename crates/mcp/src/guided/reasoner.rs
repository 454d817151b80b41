//! A flow with its state, as a run that is polled until it waits for the host.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex as StdMutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use cogwork_cot::{ChainOfThought, Limits, Reasoning, ReasoningEvent};
use cogwork_flow::{Flow, RunError, Stepped};
use cogwork_strategies::{Solver, Solving};
use cogwork_tools::Tools;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Mutex;
use tokio::task::unconstrained;

use super::board::{Board, HostClient, HostTool};
use super::entry::{Budget, Settings};
use crate::ServerLimits;
use crate::method::Method;
use crate::run::{Best, End, RunState};
use crate::shown::Step;

/// How often the model is asked again because its reply cannot be used.
const ASKS_AGAIN: u32 = 8;

/// Longer than any session. The time of a session is measured from its record, so the clock of a
/// run must not limit it.
const NO_TIME_LIMIT: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The progress of a run, which is updated after each step. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<StdMutex<Done>>);

/// What was done.
#[derive(Debug, Clone, Default)]
pub(super) struct Done {
    pub(super) steps: Vec<Step>,
    pub(super) repairs: Vec<String>,
    pub(super) tokens: u64,
    pub(super) best: Option<Best>,
    pub(super) end: Option<End>,
}

impl Progress {
    /// A panic can't leave the progress half changed, so a poisoned lock can still be used.
    pub(super) fn locked(&self) -> MutexGuard<'_, Done> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a step has changed.
    fn update(&self, state: &impl RunState) {
        let mut done = self.locked();
        let new = state.steps(done.steps.len());
        done.steps.extend(new);
        done.repairs = state.repairs();
        done.tokens = state.spent().tokens();
        done.best = state.best();
        done.end = state.end();
    }
}

/// What solves the problem of a session.
pub(super) trait Reasoner: Send {
    /// Returns a run that goes on with the state as the last one left it.
    fn run(&self) -> Running;

    /// Lowers the limits, so that the next run only asks for the best answer so far. It may ask
    /// the model this many times. No other run may be in progress.
    fn conclude(&self, calls: u32);
}

/// Returns what solves the problem of a session with the model of the host.
pub(super) fn reasoner(
    settings: &Settings,
    limits: &ServerLimits,
    board: &Board,
    progress: &Progress,
) -> Result<Box<dyn Reasoner>, String> {
    let tools = tools(settings, board, limits)?;
    let client = HostClient(board.clone());
    let budget = settings.budget;
    let problem = settings.problem.as_str();

    match settings.method {
        Method::Flow => Err("the model of the host follows no flow".to_owned()),
        Method::Loop => {
            board.expect_problems();
            let asked = board.clone();
            let node = ChainOfThought::new(client)
                .with_tools(tools)
                .with_limits(limits_of(&budget))
                .with_asks_again(ASKS_AGAIN)
                .with_reporter(move |event: &ReasoningEvent| {
                    if let ReasoningEvent::AskingAgain { problem, .. } = event {
                        asked.report_problem(problem.clone());
                    }
                });
            let state = Reasoning::new(problem);
            let flow = node.into_flow();
            Ok(FlowReasoner::boxed(flow, state, board, progress, budget))
        }
        Method::Strategy(name) => {
            let solver = Solver::new(client, name)
                .with_tools(tools)
                .with_limits(limits_of(&budget))
                .with_asks_again(ASKS_AGAIN);
            let state = solver.begin(problem);
            let flow = solver.into_flow().map_err(|error| error.to_string())?;
            Ok(FlowReasoner::boxed(flow, state, board, progress, budget))
        }
    }
}

/// A tool of the host takes as long as the host wants.
const TOOL_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

fn tools(settings: &Settings, board: &Board, limits: &ServerLimits) -> Result<Tools, String> {
    let tools = Tools::new()
        .with_timeout(TOOL_TIMEOUT)
        .with_max_bytes(limits.thought_bytes);

    let mut host_tools = settings.tools.iter().map(|tool| HostTool {
        board: board.clone(),
        definition: tool.definition(),
    });
    let tools = host_tools.try_fold(tools, |tools, tool| tools.with(tool));
    tools.map_err(|error| error.to_string())
}

/// A state whose limits can be lowered, so that the next step asks for the best answer so far.
trait Conclude: RunState + Sized + 'static {
    fn concluding(&self, budget: &Budget, calls: u32) -> Self;
}

impl Conclude for Solving {
    /// Allows no further thoughts.
    fn concluding(&self, budget: &Budget, calls: u32) -> Self {
        let calls = self.spent().calls.saturating_add(calls);
        let limits = limits_of(budget).with_thoughts(0).with_calls(calls);
        self.clone().with_limits(limits)
    }
}

impl Conclude for Reasoning {
    /// Allows one more thought, which is then the conclusion.
    fn concluding(&self, budget: &Budget, calls: u32) -> Self {
        let thoughts = u32::try_from(self.thoughts().len()).unwrap_or(u32::MAX);
        let calls = self.spent().calls.saturating_add(calls);
        let limits = limits_of(budget)
            .with_thoughts(thoughts.saturating_add(1))
            .with_calls(calls);
        self.clone().with_limits(limits)
    }
}

fn limits_of(budget: &Budget) -> Limits {
    Limits::default()
        .with_calls(budget.replies)
        .with_tokens(budget.tokens)
        .with_thoughts(budget.thoughts)
        .with_time(NO_TIME_LIMIT)
}

/// A flow over a state. Clones share both.
struct FlowReasoner<S> {
    flow: Arc<Flow<S>>,
    state: Arc<Mutex<S>>,
    board: Board,
    progress: Progress,
    budget: Budget,
}

impl<S: Conclude> FlowReasoner<S> {
    fn boxed(
        flow: Flow<S>,
        state: S,
        board: &Board,
        progress: &Progress,
        budget: Budget,
    ) -> Box<dyn Reasoner> {
        Box::new(Self {
            flow: Arc::new(flow),
            state: Arc::new(Mutex::new(state)),
            board: board.clone(),
            progress: progress.clone(),
            budget,
        })
    }

    /// Takes steps until the run ends. The flow has one node, which goes on with any state.
    async fn walk(&self, state: &mut S) -> Result<(), RunError> {
        let max_steps = limits_of(&self.budget).max_steps();
        let mut run = self.flow.begin().with_max_steps(max_steps);

        loop {
            let stepped = run.step(state).await?;
            self.progress.update(state);
            self.board.end_step();

            if !matches!(stepped, Stepped::Moved { .. }) {
                return Ok(());
            }
        }
    }
}

impl<S> Clone for FlowReasoner<S> {
    fn clone(&self) -> Self {
        Self {
            flow: Arc::clone(&self.flow),
            state: Arc::clone(&self.state),
            board: self.board.clone(),
            progress: self.progress.clone(),
            budget: self.budget,
        }
    }
}

impl<S: Conclude> Reasoner for FlowReasoner<S> {
    fn run(&self) -> Running {
        let reasoner = self.clone();
        Box::pin(async move {
            let mut state = reasoner.state.lock().await;
            if let Err(error) = reasoner.walk(&mut state).await {
                reasoner.progress.locked().end = Some(End::failed(reason(error)));
            }
        })
    }

    fn conclude(&self, calls: u32) {
        // A run that is dropped leaves the state as its last step left it.
        if let Ok(mut state) = self.state.try_lock() {
            *state = state.concluding(&self.budget, calls);
        }
    }
}

/// Returns why a run failed. The flow around the node means nothing to the host.
fn reason(error: RunError) -> String {
    let whole = error.to_string();
    let source = error.into_source();
    source.map_or(whole, |source| source.to_string())
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
            // The scheduler does not interrupt the run, so a run that is pending and not woken
            // waits for the host.
            running: Some(Box::pin(unconstrained(run))),
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
