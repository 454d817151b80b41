//! A step of a run: makes the calls that the method waits for, and works through what follows from
//! their outcomes.

use std::sync::Arc;

use cogwork_flow::{Action, Node};
use cogwork_llm::LlmError;
use cogwork_text::ErrorText;
use cogwork_typed::ask::{Limit, Meter, Reserve, Spent};
use serde::{Deserialize, Serialize};

use super::conclusion::conclusion;
use super::context::{Batch, advance};
use super::error::Cause;
use super::tool_calls::call_all;
use super::{AskProblem, Asked, Call, EndReason, SolveError, Solver, Solving};

/// The action that leads to the next step.
pub(super) const MORE: Action = Action::from_static("more");

/// The only node of a solver's flow.
pub(super) struct SolveNode(pub(super) Solver);

/// What a step does.
pub(super) struct Step {
    /// The calls to make, if there are any.
    batch: Option<Arc<Batch>>,
    /// The limit that was reached, if the call is the conclusion.
    over: Option<Limit>,
    /// The cost of all attempts at this step.
    meter: Meter,
    /// What is kept for the conclusion. Nothing if the calls lead to the answer, too.
    reserve: Option<Reserve>,
}

/// What was done.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Call>,
    spent: Spent,
}

impl Node<Solving> for SolveNode {
    type Prep = Step;
    type Exec = Outcome;
    type Error = SolveError;

    fn actions(&self) -> Vec<Action> {
        vec![MORE, Solver::SOLVED, Solver::STOPPED]
    }

    /// Of the calls that are made at the same time, a run that was killed repeats only those that
    /// have no outcome.
    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, solving: &mut Solving) -> Result<Step, SolveError> {
        if solving.problem.trim().is_empty() {
            return Err(SolveError::method("the problem is empty; expected a text"));
        }

        let solver = &self.0;
        // A misspelt tool would otherwise only be found when the model calls it.
        solver.tools.ready().map_err(|error| {
            let error = SolveError::method(ErrorText(&error).to_string());
            error.at(&solver.strategy.start().name)
        })?;

        // The first step makes no calls, so that the thoughts before them are in the state.
        let has_begun = !solving.session.thoughts().is_empty();
        let waiting = match solving.next.take() {
            None if has_begun && solving.is_open() => advance(solver, solving)?,
            next => next,
        };

        let (conclusion, reserve) = conclusion(solver, solving).unzip();
        // Questions for the answer may use what is kept for the conclusion, since none follows.
        let is_last = waiting.as_ref().is_some_and(|batch| is_last(solver, batch));
        let is_kept = solving.over.is_none() && !is_last;

        // A step that only calls tools is made again after a person was asked, and counts only then.
        let only_calls = |batch: &Arc<Batch>| batch.questions.is_empty();
        let meter = match waiting.as_ref().is_some_and(only_calls) {
            true => Meter::default(),
            false => solving.failed.share(),
        };
        // The method ran outside of `exec`, where nothing was metered.
        meter.add_time(std::mem::take(&mut solving.worked));
        Ok(Step {
            meter: meter.with_limits(solver.limits, solving.spent),
            batch: match solving.over {
                Some(_) => conclusion.filter(|_| solving.end.is_none()),
                None => waiting,
            },
            over: solving.over,
            reserve: reserve.filter(|_| is_kept),
        })
    }

    async fn exec(&self, step: &Step) -> Result<Outcome, SolveError> {
        let Some(batch) = &step.batch else {
            return Ok(Outcome::default());
        };

        // Ends with the attempt, even if a timeout drops it.
        let running = step.meter.run();
        step.meter.keep(step.reserve);
        let made = self.make(batch, &step.meter).await;
        drop(running);

        let (mut calls, error) = made.map_err(|error| error.at(&batch.stage))?;
        // Recorded with the calls: a replay has no pace of its own to judge by.
        let calls_left = step.meter.calls_left();
        for call in &mut calls {
            if let Call::Model(asked) = call {
                asked.calls_left = calls_left;
            }
        }

        let spent = step.meter.spent();
        let outcome = Outcome { calls, spent };
        // A conclusion that fails leaves the best answer so far, which is not an error.
        if step.over.is_some() || outcome.out_of().is_some() || outcome.is_usable() {
            return Ok(outcome);
        }

        let cause = match error {
            Some(error) => Cause::Client(error),
            None => Cause::Unreadable(outcome.first_problem()),
        };
        // An error is not recorded, so the next attempt asks again. Its calls are kept for readers.
        Err(SolveError::from(cause)
            .at(&batch.stage)
            .with_calls(outcome.calls))
    }

    fn post(
        &self,
        solving: &mut Solving,
        step: Step,
        outcome: Outcome,
    ) -> Result<Action, SolveError> {
        solving.spent += outcome.spent;
        // The cost of this attempt includes that of the failed ones.
        solving.failed.clear();

        match (step.over, solving.end()) {
            (Some(limit), None) => solving.conclude(limit, outcome.calls),
            (None, None) => {
                solving.over = outcome.out_of();
                solving.calls.extend(outcome.calls);
                if solving.is_open() {
                    // Kept for the next step, so that the method needn't begin again.
                    solving.next = advance(&self.0, solving)?;
                }
            }
            (_, Some(_)) => {}
        }

        Ok(match solving.end() {
            None => MORE,
            Some(EndReason::Answered) => Solver::SOLVED,
            Some(_) => Solver::STOPPED,
        })
    }
}

impl SolveNode {
    /// Makes the calls. Returns the first error of a client, too.
    async fn make(
        &self,
        batch: &Batch,
        meter: &Meter,
    ) -> Result<(Vec<Call>, Option<LlmError>), SolveError> {
        let (asked, error) = self.0.ask_all(batch, meter).await;
        let called = call_all(&self.0, batch, meter).await.map_err(|error| {
            SolveError::method(format!("a tool call has to wait for approval: {error}"))
        })?;

        let calls = asked.into_iter().map(Call::Model);
        let calls = calls.chain(called.into_iter().map(Call::Tool));
        Ok((calls.collect(), error))
    }
}

/// Returns whether the calls lead to the answer.
fn is_last(solver: &Solver, batch: &Batch) -> bool {
    let stage = solver.strategy.stage(&batch.stage);
    let is_before_end =
        stage.is_some_and(|stage| solver.strategy.next(stage).all(|stage| stage.is_final));

    let questions = &batch.questions;
    let asks_for_answer = questions.iter().all(|question| question.is_answer);
    is_before_end || (asks_for_answer && !questions.is_empty())
}

impl Outcome {
    fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.calls.iter().filter_map(|call| match call {
            Call::Model(asked) => Some(asked),
            Call::Tool(_) => None,
        })
    }

    /// Returns whether a question has a reply, if any was asked.
    fn is_usable(&self) -> bool {
        self.asked().next().is_none() || self.asked().any(|asked| asked.reply.is_ok())
    }

    /// Returns the limit that was reached before there was a reply. With a reply, the method can go
    /// on, and meets the limit before its next call.
    fn out_of(&self) -> Option<Limit> {
        if self.is_usable() {
            return None;
        }

        self.asked().find_map(|asked| match asked.reply {
            Err(AskProblem::OutOf(limit)) => Some(limit),
            _ => None,
        })
    }

    fn first_problem(&self) -> String {
        let problem = self.asked().find_map(|asked| match &asked.reply {
            Err(AskProblem::Unreadable(problem)) => Some(problem.clone()),
            _ => None,
        });
        problem.unwrap_or_else(|| "nothing was asked".to_owned())
    }
}
