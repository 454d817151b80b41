//! Running a method step by step.

use cogwork_cot::Reasoning;
use cogwork_flow::{CancellationToken, Run, RunError, Stepped};
use cogwork_strategies::{SolveError, StrategyName};

use super::backend::Backend;
use super::entry::{SolveEnd, SolveStep};
use super::request::SolveRequest;
use super::running::{Recorded, Watch};
use crate::method::Method;
use crate::run::{RunState, Status};

/// Runs the method of a request until it ends or is cancelled, and records each step.
pub(super) async fn solve(
    backend: &Backend,
    request: &SolveRequest,
    watch: &mut Watch,
    token: &CancellationToken,
) -> SolveEnd {
    match request.method {
        Method::Loop => solve_by_loop(backend, request, watch, token).await,
        Method::Strategy(name) => solve_by_strategy(backend, name, request, watch, token).await,
        Method::Flow => solve_by_flow(backend, request, watch, token).await,
    }
}

async fn solve_by_strategy(
    backend: &Backend,
    name: StrategyName,
    request: &SolveRequest,
    watch: &mut Watch,
    token: &CancellationToken,
) -> SolveEnd {
    let limits = request.limits;
    let client = backend.client();
    let solver = client.and_then(|client| client.solver(name, &limits));
    let Some(solver) = solver else {
        return SolveEnd::failed("there is no client for strategies");
    };

    let mut solving = solver.begin(request.problem.clone());
    let flow = match solver.with_limits(limits).into_flow() {
        Ok(flow) => flow,
        Err(error) => return SolveEnd::failed(error),
    };

    let run = flow.begin().with_max_steps(limits.max_steps());
    match finish(run, &mut solving, step_after, watch, token).await {
        Err(error) if !error.is_cancelled() => {
            // The error has the calls of the turn that failed.
            let error = SolveError::of_run(error, solving);
            let Some(so_far) = error.so_far() else {
                return SolveEnd::failed(error);
            };
            watch.step(step_after(so_far, watch.recorded)).await;
            end_of(so_far, Err(SolveEnd::failed(&error)))
        }
        ended => end_of(&solving, ended.map_err(failed)),
    }
}

async fn solve_by_loop(
    backend: &Backend,
    request: &SolveRequest,
    watch: &mut Watch,
    token: &CancellationToken,
) -> SolveEnd {
    let Some(backend) = backend.client() else {
        return SolveEnd::failed("there is no client for the loop");
    };

    let mut reasoning = Reasoning::new(request.problem.clone()).with_limits(request.limits);
    let run = backend.reasoning.begin();
    let ended = finish(run, &mut reasoning, step_after, watch, token).await;
    end_of(&reasoning, ended.map_err(failed))
}

#[cfg(feature = "agents")]
async fn solve_by_flow(
    backend: &Backend,
    request: &SolveRequest,
    watch: &mut Watch,
    token: &CancellationToken,
) -> SolveEnd {
    use crate::run::FileView;
    use cogwork_agents::FlowState;
    use tokio::time::Instant;

    let Some(flow) = backend.flow.clone() else {
        return SolveEnd::failed("there is no flow");
    };

    let mut state = FlowState::new(request.problem.clone());
    let run = flow.flow().begin();
    let run = match request.limits.time {
        Some(time) => run.with_deadline(Instant::now() + time),
        None => run,
    };

    let step_after =
        |state: &FlowState, recorded| step_after(&FileView { flow: &flow, state }, recorded);
    let ended = finish(run, &mut state, step_after, watch, token).await;
    let state = FileView {
        flow: &flow,
        state: &state,
    };
    let mut end = end_of(&state, ended.map_err(failed));
    end.reason = flow.hide_secrets(&end.reason);
    end
}

#[cfg(not(feature = "agents"))]
async fn solve_by_flow(
    _: &Backend,
    _: &SolveRequest,
    _: &mut Watch,
    _: &CancellationToken,
) -> SolveEnd {
    SolveEnd::failed("there is no flow")
}

/// Takes steps until the end, and records each.
async fn finish<S: Send>(
    run: Run<'_, S>,
    state: &mut S,
    step_after: impl Fn(&S, Recorded) -> SolveStep,
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
fn step_after(state: &impl RunState, recorded: Recorded) -> SolveStep {
    SolveStep {
        thoughts: state.steps(recorded.thoughts),
        calls: state.calls(recorded.calls),
        spent: state.spent(),
    }
}

fn failed(error: RunError) -> SolveEnd {
    if error.is_cancelled() {
        return SolveEnd {
            outcome: Status::Cancelled,
            ..SolveEnd::failed("the run was cancelled")
        };
    }
    SolveEnd::failed(error)
}

/// Returns the end of a run, with the best answer so far.
fn end_of(state: &impl RunState, ended: Result<(), SolveEnd>) -> SolveEnd {
    let end = ended.err().unwrap_or_else(|| match state.end() {
        Some(end) => SolveEnd {
            outcome: end.status,
            ..SolveEnd::failed(end.reason)
        },
        None => SolveEnd {
            outcome: Status::Stopped,
            ..SolveEnd::failed("the run ended without an answer")
        },
    });

    let best = state.best();
    SolveEnd {
        answer: best.as_ref().map(|best| best.answer.clone()),
        confidence: best.and_then(|best| best.confidence),
        ..end
    }
}
