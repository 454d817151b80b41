//! The chain of thought with a plan, as a run that asks the host.

use std::sync::Arc;

use cogwork_cot::{ChainOfThought, Limits, Reasoning, ReasoningEnd, RunOptions, Thought};
use cogwork_tools::Tools;
use tokio::sync::Mutex;

use super::board::Board;
use super::board::{HostClient, ProblemReporter};
use super::entry::{Budget, Settings};
use super::progress::{Answer, End, EndKind, Progress, Thought as Shown};
use super::reasoner::{ASKS_AGAIN, FlowReasoner, NO_TIME_LIMIT, Reasoner};

/// Returns the loop over the problem of a session.
pub(super) fn reasoner(
    settings: &Settings,
    tools: Tools,
    board: &Board,
    progress: &Progress,
) -> Box<dyn Reasoner> {
    board.expect_problems();

    let node = ChainOfThought::new(HostClient(board.clone()))
        .with_tools(tools)
        .with_limits(limits(&settings.budget))
        .with_reporter(ProblemReporter(board.clone()));

    Box::new(FlowReasoner {
        flow: Arc::new(node.into_flow()),
        state: Arc::new(Mutex::new(Reasoning::new(settings.problem.as_str()))),
        board: board.clone(),
        progress: progress.clone(),
        budget: settings.budget,
        watch,
        lower,
    })
}

fn limits(budget: &Budget) -> Limits {
    Limits::default()
        // Each thought needs a reply.
        .with_thoughts(budget.thoughts.min(budget.replies))
        .with_tokens(budget.tokens)
        .with_time(NO_TIME_LIMIT)
        .with_asks_again(ASKS_AGAIN)
}

/// Allows one more thought, which is then the conclusion.
fn lower(reasoning: &Reasoning, budget: &Budget, calls: u32) -> Reasoning {
    let thoughts = u32::try_from(reasoning.thoughts().len()).unwrap_or(u32::MAX);
    let limits = limits(budget)
        .with_thoughts(thoughts.saturating_add(1))
        .with_asks_again(calls.saturating_sub(1).min(ASKS_AGAIN));
    let options = RunOptions::default().with_limits(limits);
    reasoning.clone().with_options(options)
}

fn watch(reasoning: &Reasoning, progress: &Progress) {
    let mut done = progress.locked();
    let thoughts = reasoning.thoughts();
    let new = thoughts.iter().skip(done.thoughts.len());
    let new: Vec<_> = new.collect();

    for thought in new {
        let repairs = thought.trace().repairs.iter().map(ToString::to_string);
        done.repairs.extend(repairs);
        done.thoughts.push(shown(thought));
    }

    done.tokens = reasoning.spent().tokens();
    done.best = thoughts.last().map(|last| Answer {
        text: last.current_thinking().to_owned(),
        conclusion: reasoning.conclusion().map(str::to_owned),
        confidence: None,
    });
    done.end = reasoning.end_reason().map(end);
}

fn shown(thought: &Thought) -> Shown {
    let plan = thought.planning().outline();
    Shown {
        stage: "thought".to_owned(),
        text: format!("{}\n{plan}", thought.current_thinking().trim()),
    }
}

fn end(reason: ReasoningEnd) -> End {
    match reason {
        ReasoningEnd::Limit(limit) => End {
            kind: EndKind::Stopped,
            reason: format!("the limit of {limit} was reached"),
        },
        _ => End {
            kind: EndKind::Answered,
            reason: "answered".to_owned(),
        },
    }
}
