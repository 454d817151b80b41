//! Running a method step by step.

use cogwork_cot::{Limits, Reasoning, RunOptions};
use cogwork_flow::{CancellationToken, Run, RunError, Stepped};
use cogwork_llm::Budget;
use cogwork_strategies::{SolveBudget, SolveError, SolveOptions, StrategyName};

use super::backend::{Backend, SolveMethod};
use super::entry::{Outcome, SolveEnd, SolveStep};
use super::request::SolveRequest;
use super::running::Watch;
use super::state::{Recorded, Traced};
use crate::method::Method;

/// Runs the method of a request until it ends or is cancelled, and records each step.
pub(super) async fn solve(
    backend: &Backend,
    request: &SolveRequest,
    watch: &mut Watch,
    token: &CancellationToken,
) -> SolveEnd {
    match request.method {
        SolveMethod::Client(Method::Loop) => solve_by_loop(backend, request, watch, token).await,
        SolveMethod::Client(Method::Strategy(name)) => {
            solve_by_strategy(backend, name, request, watch, token).await
        }
        SolveMethod::Flow => solve_by_flow(backend, request, watch, token).await,
    }
}

async fn solve_by_strategy(
    backend: &Backend,
    name: StrategyName,
    request: &SolveRequest,
    watch: &mut Watch,
    token: &CancellationToken,
) -> SolveEnd {
    let budget = request.budget;
    let client = backend.client();
    let solver = client.and_then(|client| client.solver(name, &budget));
    let Some(solver) = solver else {
        return failed("there is no client for strategies");
    };

    let options = SolveOptions::default().with_budget(budget);
    let mut solving = solver.begin(request.problem.clone()).with_options(options);
    let flow = match solver.into_flow() {
        Ok(flow) => flow,
        Err(error) => return failed(error),
    };

    let run = flow.begin().with_max_steps(max_steps(&budget));
    match finish(run, &mut solving, Traced::step_after, watch, token).await {
        Ok(()) => Traced::end(&solving),
        Err(error) if error.is_cancelled() => cancelled(&solving),
        Err(error) => {
            // The error has the calls of the turn that failed.
            let error = SolveError::of_run(error, solving);
            let Some(so_far) = error.so_far() else {
                return failed(error);
            };
            watch.step(so_far.step_after(watch.recorded)).await;
            interrupted(so_far, Outcome::Failed, &error)
        }
    }
}

async fn solve_by_loop(
    backend: &Backend,
    request: &SolveRequest,
    watch: &mut Watch,
    token: &CancellationToken,
) -> SolveEnd {
    let Some(backend) = backend.client() else {
        return failed("there is no client for the loop");
    };

    // Only the client can count the calls of a turn, which may ask again.
    let budget = request.budget;
    let client = Budget::new(backend.client.clone()).with_calls(budget.calls.into());
    let options = RunOptions::default()
        .with_limits(limits_of(&budget))
        .with_client_of_same_server(client);

    let mut reasoning = Reasoning::new(request.problem.clone()).with_options(options);
    let run = backend.reasoning.begin();
    match finish(run, &mut reasoning, Traced::step_after, watch, token).await {
        Ok(()) => reasoning.end(),
        Err(error) if error.is_cancelled() => cancelled(&reasoning),
        Err(error) => interrupted(&reasoning, Outcome::Failed, error),
    }
}

#[cfg(feature = "agents")]
async fn solve_by_flow(
    backend: &Backend,
    request: &SolveRequest,
    watch: &mut Watch,
    token: &CancellationToken,
) -> SolveEnd {
    use super::state::FileView;
    use cogwork_agents::FlowState;
    use tokio::time::Instant;

    let Some(flow) = backend.flow.clone() else {
        return failed("there is no flow");
    };

    let mut state = FlowState::new(request.problem.clone());
    let run = flow.flow().begin();
    let run = match Instant::now().checked_add(request.budget.time) {
        Some(deadline) => run.with_deadline(deadline),
        None => run,
    };

    let step_after =
        |state: &FlowState, recorded| FileView { flow: &flow, state }.step_after(recorded);
    let ended = finish(run, &mut state, step_after, watch, token).await;
    let state = FileView {
        flow: &flow,
        state: &state,
    };
    match ended {
        Ok(()) => state.end(),
        Err(error) if error.is_cancelled() => cancelled(&state),
        Err(error) => {
            let reason = flow.hide_secrets(&error.to_string());
            interrupted(&state, Outcome::Failed, reason)
        }
    }
}

#[cfg(not(feature = "agents"))]
async fn solve_by_flow(
    _: &Backend,
    _: &SolveRequest,
    _: &mut Watch,
    _: &CancellationToken,
) -> SolveEnd {
    failed("there is no flow")
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

/// Returns a limit that the budget of thoughts reaches first. A few stages add no thought.
fn max_steps(budget: &SolveBudget) -> u64 {
    u64::from(budget.thoughts).saturating_mul(4).max(10_000)
}

fn limits_of(budget: &SolveBudget) -> Limits {
    Limits::default()
        .with_thoughts(budget.thoughts.min(budget.calls))
        .with_tokens(budget.tokens)
        .with_bytes(budget.bytes)
        .with_time(budget.time)
        .with_conclude(budget.conclude)
}

fn failed(reason: impl std::fmt::Display) -> SolveEnd {
    SolveEnd {
        outcome: Outcome::Failed,
        answer: None,
        confidence: None,
        reason: reason.to_string(),
    }
}

fn cancelled(state: &impl Traced) -> SolveEnd {
    interrupted(state, Outcome::Cancelled, "the run was cancelled")
}

fn interrupted(state: &impl Traced, outcome: Outcome, reason: impl std::fmt::Display) -> SolveEnd {
    SolveEnd {
        answer: state.best(),
        outcome,
        ..failed(reason)
    }
}
