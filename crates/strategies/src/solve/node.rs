//! A step of a run: makes the calls that the method waits for, and works through what follows from
//! their outcomes.

use std::sync::Arc;

use cogwork_flow::{Action, Node};
use cogwork_llm::LlmError;
use cogwork_text::ErrorText;
use cogwork_typed::ask::{Limit, Meter, Reserve, Spent};
use serde::{Deserialize, Serialize};

use super::ask::Question;
use super::calling::call_all;
use super::changes::Before;
use super::conclusion::{self, conclusion};
use super::context::{Advanced, Batch, Work, advance};
use super::shared::Shared;
use super::{AskProblem, Asked, Call, EndReason, SolveError, Solver, Solving};
use crate::Stage;

/// The action that leads to the next step.
pub(super) const MORE: Action = Action::from_static("more");

/// The only node of a solver's flow.
pub(super) struct SolveNode(pub(super) Arc<Shared>);

/// What to do in a step.
pub(super) enum Brief {
    /// The run begins, with the thoughts before the first call.
    Begin,
    /// The run has ended.
    Ended,
    Make {
        batch: Arc<Batch>,
        rest: Rest,
    },
    /// A limit doesn't allow the calls.
    Over {
        limit: Limit,
        rest: Rest,
    },
}

/// What a step may spend.
pub(super) struct Rest {
    /// The settings of the run.
    shared: Arc<Shared>,
    /// The cost of all attempts at this step.
    meter: Meter,
    /// The last question, if one is asked.
    conclusion: Option<Question>,
    /// What is kept for it. Nothing if the calls of the step lead to the answer, too.
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
    /// The last question, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conclusion: Option<Asked>,
    spent: Spent,
}

impl Node<Solving> for SolveNode {
    type Prep = Brief;
    type Exec = Outcome;
    type Error = SolveError;

    fn actions(&self) -> Vec<Action> {
        vec![MORE, Solver::SOLVED, Solver::STOPPED]
    }

    fn prep(&self, solving: &mut Solving) -> Result<Brief, SolveError> {
        if solving.problem().trim().is_empty() {
            return Err(SolveError::method("the problem is empty; expected a text"));
        }
        if solving.end().is_some() {
            return Ok(Brief::Ended);
        }

        let shared = self.0.with_limits(solving.limits);
        shared.tools.ready().map_err(|error| {
            let error = SolveError::method(ErrorText(&error).to_string());
            error.at(shared.strategy.start().name())
        })?;

        let next = match solving.next.take() {
            Some(next) => next,
            None if solving.session.thoughts().is_empty() => return Ok(Brief::Begin),
            None => advance(&shared, solving)?,
        };
        let batch = match next {
            Advanced::Waiting(batch) => batch,
            Advanced::Ended => return Ok(Brief::Ended),
            Advanced::Over(limit) => {
                let rest = Rest::new(shared, solving, None);
                return Ok(Brief::Over { limit, rest });
            }
        };

        // A replay doesn't have the cost of failed attempts and must decide the same. The meter
        // includes this cost.
        let spent = solving.spent;
        let thoughts = solving.session().thoughts().len();
        let mut over = shared.limits.reached(&spent, thoughts);
        if over.is_none() && matches!(batch.work, Work::Ask { .. }) {
            over = shared.limits.reached_by_calls(&spent);
        }

        let rest = Rest::new(shared, solving, Some(&batch));
        Ok(match over {
            Some(limit) => Brief::Over { limit, rest },
            None => Brief::Make { batch, rest },
        })
    }

    async fn exec(&self, brief: &Brief) -> Result<Outcome, SolveError> {
        let (batch, rest) = match brief {
            Brief::Begin | Brief::Ended => return Ok(Outcome::default()),
            Brief::Make { batch, rest } => (batch, rest),
            Brief::Over { rest, .. } => return Ok(rest.conclude(Outcome::default()).await),
        };

        // Ends with the attempt, even if a timeout drops it.
        let running = rest.meter.run();
        rest.meter.keep(rest.reserve);
        let (mut outcome, error) = rest.make(batch).await;
        drop(running);

        outcome.spent = rest.meter.spent();
        let unanswered = outcome.unanswered();
        if unanswered && outcome.out_of.is_none() {
            let out_of = outcome.asked().find_map(Asked::out_of);
            outcome.out_of = out_of;
        }

        if outcome.out_of.is_some() {
            return Ok(rest.conclude(outcome).await);
        }
        if !unanswered {
            return Ok(outcome);
        }

        let error = match error {
            Some(error) => SolveError::client(error),
            None => SolveError::unreadable(outcome.first_problem()),
        };
        Err(error.at(&batch.stage).with_calls(outcome.calls))
    }

    fn post(
        &self,
        solving: &mut Solving,
        brief: Brief,
        outcome: Outcome,
    ) -> Result<Action, SolveError> {
        let shared = self.0.with_limits(solving.limits);
        let before = Before::of(solving);
        let settled = settle(&shared, solving, brief, outcome);

        // What has changed is reported even if the run fails then.
        if let Some(before) = before {
            before.report_changes(solving, &shared.strategy);
        }
        settled?;

        Ok(match solving.end() {
            None => MORE,
            Some(EndReason::Answered) => Solver::SOLVED,
            Some(_) => Solver::STOPPED,
        })
    }
}

/// Adds what was done to the state, and works through what follows from it.
fn settle(
    shared: &Arc<Shared>,
    solving: &mut Solving,
    brief: Brief,
    outcome: Outcome,
) -> Result<(), SolveError> {
    solving.spent += outcome.spent;
    solving.failed.clear();
    solving.calls.extend(outcome.calls);

    let over = match brief {
        Brief::Ended => return Ok(()),
        Brief::Begin => None,
        Brief::Make { .. } => outcome.out_of,
        Brief::Over { limit, .. } => Some(limit),
    };
    let Some(limit) = over else {
        // Kept for the next step, so that the method needn't begin again.
        solving.next = Some(advance(shared, solving)?);
        return Ok(());
    };

    solving.end = Some(EndReason::OutOf { limit });
    if let Some(asked) = outcome.conclusion {
        let concluded = asked.reply.as_ref().ok().and_then(conclusion::answer);
        solving.best = concluded.or(solving.best.take());
        solving.calls.push(Call::Model(asked));
    }
    Ok(())
}

impl Outcome {
    fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.calls.iter().filter_map(|call| match call {
            Call::Model(asked) => Some(asked),
            Call::Tool(_) => None,
        })
    }

    /// Returns whether there were questions, and no usable reply.
    fn unanswered(&self) -> bool {
        self.asked().next().is_some() && self.asked().all(|asked| asked.reply.is_err())
    }

    fn first_problem(&self) -> String {
        let problem = self.asked().find_map(|asked| match &asked.reply {
            Err(AskProblem::Unreadable(problem)) => Some(problem.clone()),
            _ => None,
        });
        problem.unwrap_or_else(|| "nothing was asked".to_owned())
    }
}

impl Rest {
    fn new(shared: Arc<Shared>, solving: &Solving, batch: Option<&Batch>) -> Self {
        let is_open = solving.best.is_none() || solving.is_guess;
        let conclusion = (is_open && shared.limits.concludes()).then(|| {
            let opening = shared.opening(solving.problem());
            conclusion(opening, solving.session())
        });

        let reserve = conclusion
            .as_ref()
            .filter(|_| !batch.is_some_and(|batch| is_last(&shared, batch)));
        let reserve = reserve.map(|question| {
            let request = shared.questions.request_in_lines(question, 0);
            conclusion::reserve(&shared.limits, solving, &request)
        });

        let meter = solving.failed.share();
        Self {
            meter: meter.with_limits(shared.limits, solving.spent),
            conclusion,
            reserve,
            shared,
        }
    }

    /// Makes the calls. Returns the first error of a client, too.
    async fn make(&self, batch: &Batch) -> (Outcome, Option<LlmError>) {
        let Shared {
            tools, questions, ..
        } = &*self.shared;
        let (stage, meter) = (&batch.stage, &self.meter);

        match &batch.work {
            Work::Ask {
                questions: asks,
                enough,
            } => {
                let all = questions.ask_all(stage, asks, enough.as_ref(), meter);
                let (asked, error) = all.await;
                let outcome = Outcome {
                    calls: asked.into_iter().map(Call::Model).collect(),
                    ..Outcome::default()
                };
                (outcome, error)
            }
            Work::Call(calls) => {
                let called = call_all(stage, calls, tools, questions.at_once, meter).await;
                let is_cut_short = called.iter().any(Option::is_none);
                let outcome = Outcome {
                    calls: called.into_iter().flatten().map(Call::Tool).collect(),
                    out_of: is_cut_short.then(|| meter.out_of_time()),
                    ..Outcome::default()
                };
                (outcome, None)
            }
        }
    }

    /// Asks the last question, if there is one.
    async fn conclude(&self, outcome: Outcome) -> Outcome {
        let running = self.meter.run();
        self.meter.keep(None);

        let mut asked = None;
        if let Some(question) = &self.conclusion {
            let stage = conclusion::NAME;
            let questions = &self.shared.questions;
            let asks = std::slice::from_ref(question);
            let (all, _) = questions.ask_all(stage, asks, None, &self.meter).await;
            asked = all.into_iter().next();
        }

        drop(running);
        Outcome {
            conclusion: asked.filter(|asked| asked.reply.is_ok() || !asked.tries.is_empty()),
            spent: self.meter.spent(),
            ..outcome
        }
    }
}

/// Returns whether the calls lead to the answer.
fn is_last(shared: &Shared, batch: &Batch) -> bool {
    let stage = shared.strategy.stage(&batch.stage);
    let is_before_end = stage.is_some_and(|stage| shared.strategy.next(stage).all(Stage::is_final));

    let asks_for_answer = match &batch.work {
        Work::Ask { questions, .. } => questions.iter().all(|question| question.is_answer),
        Work::Call(_) => false,
    };
    is_before_end || asks_for_answer
}
