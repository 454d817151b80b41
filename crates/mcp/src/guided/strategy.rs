//! A strategy, as a run that asks the host.

use std::sync::Arc;

use cogwork_strategies::{
    Call, EndReason, SolveBudget, SolveOptions, Solver, Solving, StrategyName, Thought,
};
use cogwork_tools::Tools;
use tokio::sync::Mutex;

use super::board::Board;
use super::board::HostClient;
use super::entry::{Budget, Settings};
use super::progress::{Answer, End, EndKind, Progress, Thought as Shown};
use super::reasoner::{ASKS_AGAIN, FlowReasoner, NO_TIME_LIMIT, Reasoner};

/// Returns a strategy over the problem of a session.
pub(super) fn reasoner(
    name: StrategyName,
    settings: &Settings,
    tools: Tools,
    board: &Board,
    progress: &Progress,
) -> Result<Box<dyn Reasoner>, String> {
    let solver = Solver::new(HostClient(board.clone()), name)
        .with_tools(tools)
        .with_budget(solve_budget(&settings.budget))
        .with_asks_again(ASKS_AGAIN);

    let solving = solver.begin(settings.problem.as_str());
    let flow = solver.into_flow().map_err(|error| error.to_string())?;

    Ok(Box::new(FlowReasoner {
        flow: Arc::new(flow),
        state: Arc::new(Mutex::new(solving)),
        board: board.clone(),
        progress: progress.clone(),
        budget: settings.budget,
        watch,
        lower,
    }))
}

fn solve_budget(budget: &Budget) -> SolveBudget {
    let mut solve = SolveBudget::default()
        .with_calls(budget.replies)
        .with_tokens(budget.tokens)
        .with_thoughts(budget.thoughts);
    solve.time = NO_TIME_LIMIT;
    solve
}

/// Allows no further thoughts, so that the next step asks for the best answer so far.
fn lower(solving: &Solving, budget: &Budget, calls: u32) -> Solving {
    let calls = solving.spent().calls.saturating_add(calls);
    let budget = solve_budget(budget).with_thoughts(0).with_calls(calls);
    let options = SolveOptions::default().with_budget(budget);
    solving.clone().with_options(options)
}

fn watch(solving: &Solving, progress: &Progress) {
    let mut done = progress.locked();
    let thoughts = solving.session().thoughts();
    let new = thoughts.iter().skip(done.thoughts.len());
    let new: Vec<_> = new.map(|thought| shown(solving, thought)).collect();
    done.thoughts.extend(new);

    let calls = solving.calls();
    let repairs = calls.iter().skip(done.calls).flat_map(repairs_of);
    let repairs: Vec<_> = repairs.collect();
    done.repairs.extend(repairs);
    done.calls = calls.len();

    done.tokens = solving.spent().tokens();
    done.best = solving.best().map(|best| Answer {
        text: best.text.clone(),
        conclusion: None,
        confidence: best.confidence,
    });
    done.end = solving.end().map(end);
}

fn shown(solving: &Solving, thought: &Thought) -> Shown {
    let branch = solving.session().branch(thought.branch()).ok();
    let stage = match branch {
        Some(branch) if branch.id() != cogwork_strategies::BranchId::MAIN => {
            format!("{} ({})", thought.stage().name(), branch.name())
        }
        _ => thought.stage().name().to_owned(),
    };

    let parameters = thought.parameters().filter_map(|(name, value)| {
        let value = match value.as_str() {
            Some(text) if text == thought.text() => return None,
            Some(text) => text.to_owned(),
            None => value.to_string(),
        };
        Some(format!("{name} = {value}"))
    });
    let text = Some(thought.text().to_owned()).filter(|text| !text.is_empty());
    let parts: Vec<_> = text.into_iter().chain(parameters).collect();

    Shown {
        stage,
        text: parts.join(" · "),
    }
}

fn repairs_of(call: &Call) -> Vec<String> {
    match call {
        Call::Model { repairs, .. } => repairs.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

fn end(reason: &EndReason) -> End {
    let kind = match reason {
        EndReason::Answered => EndKind::Answered,
        _ => EndKind::Stopped,
    };
    End {
        kind,
        reason: reason.to_string(),
    }
}
