//! Running a method step by step.

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_flow::{CancellationToken, Run, RunError, Stepped};
use cogwork_strategies::{SolveError, StrategyName};

use super::backend::Backend;
use super::session::{SolveEnd, SolveStep, Watch};
use super::tool::Lower;
use crate::failure::Failure;
use crate::method::Method;
use crate::run::{RunState, Status, in_json};

/// A run that was asked for.
pub(super) struct Request {
    pub(super) problem: String,
    pub(super) method: Method,
    pub(super) lower: Lower,
}

impl Request {
    /// Runs the method until it ends or is cancelled, and records each step.
    pub(super) async fn solve(
        &self,
        backend: &Backend,
        watch: &mut Watch,
        token: &CancellationToken,
    ) -> SolveEnd {
        let solved = match self.method {
            Method::Loop => self.by_loop(backend, watch, token).await,
            Method::Strategy(name) => self.by_strategy(backend, name, watch, token).await,
            #[cfg(feature = "agents")]
            Method::Flow => self.by_flow(backend, watch, token).await,
        };
        solved.unwrap_or_else(SolveEnd::failed)
    }

    async fn by_strategy(
        &self,
        backend: &Backend,
        name: StrategyName,
        watch: &mut Watch,
        token: &CancellationToken,
    ) -> Result<SolveEnd, Failure> {
        let limits = self.lower.limits();
        let solver = backend.solver(name, limits)?;
        let mut solving = solver.begin(self.problem.clone());
        let flow = solver.into_flow().map_err(Failure::new)?;

        let run = flow.begin().with_max_steps(limits.max_steps());
        match finish(run, &mut solving, step_after, watch, token).await {
            Err(error) if !error.is_cancelled() => {
                // The error has the calls of the turn that failed.
                let error = SolveError::of_run(error, solving);
                let Some(so_far) = error.so_far() else {
                    return Err(Failure::new(error));
                };
                watch.step(step_after(so_far, watch.recorded)).await;
                Ok(end_of(so_far, Err(SolveEnd::failed(&error))))
            }
            ended => Ok(end_of(&solving, ended.map_err(failed))),
        }
    }

    async fn by_loop(
        &self,
        backend: &Backend,
        watch: &mut Watch,
        token: &CancellationToken,
    ) -> Result<SolveEnd, Failure> {
        let flow = ChainOfThought::new(backend.client()?).into_flow();
        let mut reasoning = Reasoning::new(self.problem.clone()).with_limits(self.lower.limits());
        let ended = finish(flow.begin(), &mut reasoning, step_after, watch, token).await;
        let error = ended.as_ref().err().and_then(RunError::downcast_ref);
        if let Some(error) = error {
            // The state doesn't have the turn that failed.
            reasoning.charge(error);
            let calls = vec![in_json(error.trace())];
            let step = step_after(&reasoning, watch.recorded);
            watch.step(SolveStep { calls, ..step }).await;
        }
        Ok(end_of(&reasoning, ended.map_err(failed)))
    }

    #[cfg(feature = "agents")]
    async fn by_flow(
        &self,
        backend: &Backend,
        watch: &mut Watch,
        token: &CancellationToken,
    ) -> Result<SolveEnd, Failure> {
        use crate::run::FileView;
        use cogwork_agents::FlowState;
        use tokio::time::Instant;

        let flow = backend.flow.clone();
        let flow = flow.ok_or_else(|| Failure::new("there is no flow"))?;
        let mut state = FlowState::new(self.problem.clone());
        let run = flow.flow().begin();
        let run = match self.lower.limits().time {
            Some(time) => run.with_deadline(Instant::now() + time),
            None => run,
        };

        // A flow has limits of its own, and these are those of the caller.
        let at_limit = token.child_token();
        let step_after = |state: &FlowState, recorded| {
            let step = step_after(&FileView { flow: &flow, state }, recorded);
            if self.lower.reached(&step.spent).is_some() {
                at_limit.cancel();
            }
            step
        };
        let ended = finish(run, &mut state, step_after, watch, &at_limit).await;
        let view = FileView {
            flow: &flow,
            state: &state,
        };
        let ended = ended.map_err(|error| match self.lower.reached(&view.spent()) {
            Some(limit) if error.is_cancelled() && !token.is_cancelled() => {
                SolveEnd::new(Status::Stopped, format!("the limit of {limit} was reached"))
            }
            _ => failed(error),
        });
        let mut end = end_of(&view, ended);
        end.reason = flow.hide_secrets(&end.reason);
        Ok(end)
    }
}

/// Takes steps until the end, and records each.
async fn finish<S: Send>(
    run: Run<'_, S>,
    state: &mut S,
    step_after: impl Fn(&S, (usize, usize)) -> SolveStep,
    watch: &mut Watch,
    token: &CancellationToken,
) -> Result<(), RunError> {
    let mut run = run.with_cancellation(token.clone());
    loop {
        let stepped = run.step(state).await;
        watch.step(step_after(state, watch.recorded)).await;

        if let Stepped::Ended(_) = stepped? {
            return Ok(());
        }
    }
}

/// Returns what was added since.
fn step_after(state: &impl RunState, (thoughts, calls): (usize, usize)) -> SolveStep {
    SolveStep {
        thoughts: state.steps(thoughts),
        calls: state.calls(calls),
        spent: state.spent(),
    }
}

fn failed(error: RunError) -> SolveEnd {
    match error.is_cancelled() {
        true => SolveEnd::new(Status::Cancelled, "the run was cancelled"),
        false if error.paused().is_some() => {
            SolveEnd::failed(format!("{error}, and waits can't be answered here"))
        }
        false => SolveEnd::failed(error),
    }
}

/// Returns the end of a run, with the best answer so far.
fn end_of(state: &impl RunState, ended: Result<(), SolveEnd>) -> SolveEnd {
    let end = ended.err().unwrap_or_else(|| match state.end() {
        Some(end) => SolveEnd::new(end.status, end.reason),
        None => SolveEnd::new(Status::Stopped, "the run ended without an answer"),
    });
    let best = state.best();
    SolveEnd {
        confidence: best.as_ref().and_then(|best| best.confidence),
        answer: best.map(|best| best.answer),
        ..end
    }
}
