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
use super::solver::Shared;
use super::tool_calls::call_all;
use super::{AskProblem, Asked, Call, EndReason, SolveError, Solver, Solving};

/// The action that leads to the next step.
pub(super) const MORE: Action = Action::from_static("more");

/// The only node of a solver's flow.
pub(super) struct SolveNode(pub(super) Arc<Shared>);

/// What a step does.
pub(super) struct Step {
    shared: Arc<Shared>,
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
    /// The limit that was reached before there was a usable result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    out_of: Option<Limit>,
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

        let shared = Arc::clone(&self.0);
        // A misspelt tool would otherwise only be found when the model calls it.
        shared.tools.ready().map_err(|error| {
            let error = SolveError::method(ErrorText(&error).to_string());
            error.at(&shared.strategy.start().name)
        })?;

        // The first step makes no calls, so that the thoughts before them are in the state.
        let has_begun = !solving.session.thoughts().is_empty();
        let waiting = match solving.next.take() {
            None if has_begun && solving.is_open() => advance(&shared, solving)?,
            next => next,
        };

        // Only before new calls: a run that is complete ends as such, even if it has used up its
        // limits.
        if let (None, Some(batch)) = (solving.over, &waiting) {
            solving.over = reached(&shared, solving, batch);
        }

        let conclusion = conclusion(&shared, solving);
        let is_last = |batch: &Arc<Batch>| is_last(&shared, batch);
        // Questions for the answer may use what is kept for the conclusion, since none follows.
        let is_kept = solving.over.is_none() && !waiting.as_ref().is_some_and(is_last);
        let (conclusion, reserve) = conclusion.unzip();

        // A step that only calls tools is made again after a person was asked, and counts only then.
        let only_calls = |batch: &Arc<Batch>| batch.questions.is_empty();
        let meter = match waiting.as_ref().is_some_and(only_calls) {
            true => Meter::default(),
            false => solving.failed.share(),
        };
        // The method ran outside of `exec`, where nothing was metered.
        meter.add_time(std::mem::take(&mut solving.worked));
        Ok(Step {
            meter: meter.with_limits(shared.limits, solving.spent),
            batch: match solving.over {
                Some(_) => conclusion.filter(|_| solving.end.is_none()),
                None => waiting,
            },
            over: solving.over,
            reserve: reserve.filter(|_| is_kept),
            shared,
        })
    }

    async fn exec(&self, step: &Step) -> Result<Outcome, SolveError> {
        let Some(batch) = &step.batch else {
            return Ok(Outcome::default());
        };

        // Ends with the attempt, even if a timeout drops it.
        let running = step.meter.run();
        step.meter.keep(step.reserve);
        let made = step.make(batch).await;
        drop(running);

        let (mut outcome, error) = made.map_err(|error| error.at(&batch.stage))?;
        outcome.spent = step.meter.spent();
        // Recorded with the calls: a replay has no pace of its own to judge by.
        let calls_left = step.meter.calls_left();
        for call in &mut outcome.calls {
            if let Call::Model(asked) = call {
                asked.calls_left = calls_left;
            }
        }
        // A conclusion that fails leaves the best answer so far, which is not an error.
        if step.over.is_some() || outcome.out_of.is_some() || outcome.is_usable() {
            return Ok(outcome);
        }

        let error = match error {
            Some(error) => SolveError::client(error),
            None => SolveError::unreadable(outcome.first_problem()),
        };
        // An error is not recorded, so the next attempt asks again. Its calls are kept for readers.
        Err(error.at(&batch.stage).with_calls(outcome.calls))
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

        if solving.end.is_none() {
            match step.over {
                Some(limit) => solving.conclude(limit, outcome.calls),
                None => {
                    solving.calls.extend(outcome.calls);
                    solving.over = outcome.out_of;
                    if solving.is_open() {
                        // Kept for the next step, so that the method needn't begin again.
                        solving.next = advance(&step.shared, solving)?;
                    }
                }
            }
        }

        Ok(match solving.end() {
            None => MORE,
            Some(EndReason::Answered) => Solver::SOLVED,
            Some(_) => Solver::STOPPED,
        })
    }
}

/// Returns the limit that doesn't allow the calls, if there is one.
///
/// A replay doesn't have the cost of failed attempts and must decide the same. The meter includes
/// this cost.
fn reached(shared: &Shared, solving: &Solving, batch: &Batch) -> Option<Limit> {
    let thoughts = solving.session.thoughts().len();
    // The recorded cost, and not that of the meter, which a replay lacks.
    let over = shared.limits.reached(&solving.spent, thoughts);

    match batch.questions.is_empty() {
        true => over,
        false => over.or_else(|| shared.limits.reached_by_calls(&solving.spent)),
    }
}

/// Returns whether the calls lead to the answer.
fn is_last(shared: &Shared, batch: &Batch) -> bool {
    let stage = shared.strategy.stage(&batch.stage);
    let is_before_end =
        stage.is_some_and(|stage| shared.strategy.next(stage).all(|stage| stage.is_final));

    let questions = &batch.questions;
    let asks_for_answer = questions.iter().all(|question| question.is_answer);
    is_before_end || (asks_for_answer && !questions.is_empty())
}

impl Step {
    /// Makes the calls. Returns the first error of a client, too.
    async fn make(&self, batch: &Batch) -> Result<(Outcome, Option<LlmError>), SolveError> {
        let (asked, error) = self.shared.ask_all(batch, &self.meter).await;
        let called = call_all(&self.shared, batch, &self.meter).await;
        let called = called.map_err(|error| {
            SolveError::method(format!("a tool call has to wait for approval: {error}"))
        })?;

        let calls = asked.into_iter().map(Call::Model);
        let calls = calls.chain(called.into_iter().map(Call::Tool));
        let mut outcome = Outcome {
            calls: calls.collect(),
            ..Outcome::default()
        };
        let out_of = outcome.asked().find_map(|asked| match asked.reply {
            Err(AskProblem::OutOf(limit)) => Some(limit),
            _ => None,
        });
        // With a reply, the method can go on, and meets the limit before its next call.
        outcome.out_of = out_of.filter(|_| !outcome.is_usable());
        Ok((outcome, error))
    }
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

    fn first_problem(&self) -> String {
        let problem = self.asked().find_map(|asked| match &asked.reply {
            Err(AskProblem::Unreadable(problem)) => Some(problem.clone()),
            _ => None,
        });
        problem.unwrap_or_else(|| "nothing was asked".to_owned())
    }
}
