//! One turn of a strategy: the driver decides what to do in the stage, the solver does it within
//! the budget, and the driver adds a thought and chooses the next stage.

use std::fmt;
use std::sync::Arc;

use cogwork_flow::{Action, Node};
use cogwork_llm::{LlmError, Message};
use cogwork_typed::ask::{Meter, Reserve, Spent};
use serde::{Deserialize, Serialize};

use super::calling::call_all;
use super::changes::Before;
use super::conclusion;
use super::edges;
use super::progress::{TIMES, is_stuck};
use super::questions::AllAsked;
use super::shared::Shared;
use super::work::Enough;
use super::{
    Ask, AskProblem, Asked, Call, Called, Done, EndReason, Next, PlannedCall, SolveError, Solving,
    StageReply, StageTurn, StageWork,
};
use crate::Stage;

/// The node of a stage.
pub(super) struct StageNode {
    pub(super) shared: Arc<Shared>,
    pub(super) stage: Stage,
}

/// The work to do in a turn.
#[derive(Debug)]
pub(super) enum Brief {
    Work {
        work: StageWork,
        rest: Rest,
    },
    /// The run ends before the stage begins.
    Over {
        reason: EndReason,
        rest: Rest,
    },
}

/// What a turn may spend.
pub(super) struct Rest {
    /// The settings of the run.
    shared: Arc<Shared>,
    /// The cost of all attempts at this turn.
    meter: Meter,
    /// The last question, if one is asked.
    conclusion: Option<Ask>,
    /// What is kept for it. Nothing if the work of the turn leads to the answer, too.
    reserve: Option<Reserve>,
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rest")
            .field("meter", &self.meter)
            .field("conclusion", &self.conclusion)
            .finish_non_exhaustive()
    }
}

/// What was done.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asked: Vec<Asked>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    called: Vec<Called>,
    /// The limit that was reached before there was a usable result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    out_of: Option<EndReason>,
    /// The last question, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conclusion: Option<Asked>,
    spent: Spent,
}

impl Node<Solving> for StageNode {
    type Prep = Brief;
    type Exec = Outcome;
    type Error = SolveError;

    fn actions(&self) -> Vec<Action> {
        let next = self
            .stage
            .next_names()
            .iter()
            .map(|next| edges::to_stage(next));
        next.chain(self.stage.is_final().then_some(edges::SOLVED))
            .chain([edges::STOPPED])
            .collect()
    }

    fn prep(&self, solving: &mut Solving) -> Result<Brief, SolveError> {
        if solving.problem().trim().is_empty() {
            return Err(SolveError::empty_problem());
        }

        let shared = self.shared.with_options(&solving.options);
        let ready = shared.tools.ready().map_err(SolveError::not_ready);
        ready.map_err(|error| self.at(error))?;

        let turn = StageTurn {
            solving,
            stage: &self.stage,
            strategy: &shared.strategy,
            tools: &shared.tools,
            native_tools: shared.questions.native_tools(),
        };
        let work = shared.driver.work(&turn);
        let work = work.map_err(|error| self.at(error))?;

        // A replay doesn't have the cost of failed attempts and must decide the same. The meter
        // includes this cost.
        let spent = solving.spent;
        let thoughts = solving.session().thoughts().len();
        let mut over = shared.limits.reached(&spent, thoughts);
        if over.is_none() && work.calls_model() {
            over = shared.limits.reached_by_calls(&spent);
        }

        let rest = self.rest(shared, solving, &work);
        Ok(match over {
            Some(limit) => Brief::Over {
                reason: limit.into(),
                rest,
            },
            None => Brief::Work { work, rest },
        })
    }

    async fn exec(&self, brief: &Brief) -> Result<Outcome, SolveError> {
        let (work, rest) = match brief {
            Brief::Work { work, rest } => (work, rest),
            Brief::Over { rest, .. } => return Ok(rest.conclude(Outcome::default()).await),
        };

        // Ends with the attempt, even if a timeout drops it.
        let running = rest.meter.run();
        rest.meter.keep(rest.reserve);
        let mut done = rest.do_work(work).await;
        drop(running);
        done.outcome.spent = rest.meter.spent();

        let asked = &done.outcome.asked;
        let is_answered = asked.is_empty() || asked.iter().any(|asked| asked.reply.is_ok());
        if !is_answered && done.outcome.out_of.is_none() {
            done.outcome.out_of = asked.iter().find_map(Asked::out_of).cloned();
        }

        if done.outcome.out_of.is_some() {
            return Ok(rest.conclude(done.outcome).await);
        }
        if is_answered {
            return Ok(done.outcome);
        }

        let error = match done.error {
            Some(error) => SolveError::client(error),
            None => SolveError::unreadable(first_problem(asked)),
        };
        Err(error.at(self.stage.name(), self.calls_of(done.outcome)))
    }

    fn post(
        &self,
        solving: &mut Solving,
        brief: Brief,
        outcome: Outcome,
    ) -> Result<Action, SolveError> {
        let before = Before::of(solving);
        let action = self.settle(solving, brief, outcome);

        if let Some(before) = before {
            before.report_changes(solving, &self.shared.strategy);
        }

        action
    }
}

/// What was done, and the first error of a client.
#[derive(Default)]
struct WorkDone {
    outcome: Outcome,
    error: Option<LlmError>,
}

impl StageNode {
    /// Adds what was done to the state, and chooses the next stage.
    fn settle(
        &self,
        solving: &mut Solving,
        brief: Brief,
        outcome: Outcome,
    ) -> Result<Action, SolveError> {
        solving.spent += outcome.spent;
        solving.failed.clear();

        let work = match brief {
            Brief::Work { work, .. } => work,
            Brief::Over { reason, .. } => {
                return Ok(self.stop_with(solving, reason, outcome.conclusion));
            }
        };

        let done = self.keep(solving, work, outcome.asked, outcome.called);
        if let Some(reason) = outcome.out_of {
            return Ok(self.stop_with(solving, reason, outcome.conclusion));
        }

        let driver = &*self.shared.driver;
        let next = match done {
            Some(done) => driver.take(solving, &self.stage, done),
            None => Err(SolveError::driver(
                "there are no questions to ask; expected at least one",
            )),
        };
        let next = match next {
            Ok(next) => next,
            Err(error) => return self.stop_if_full(solving, error),
        };
        solving.best = driver.answer(solving).or(solving.best.take());

        Ok(match next {
            Next::End if solving.best.is_none() => {
                let why = "the final stage has no answer".to_owned();
                self.stop(solving, EndReason::GaveUp { why })
            }
            Next::End => {
                solving.end = Some(EndReason::Answered);
                edges::SOLVED
            }
            Next::GiveUp(why) => self.stop(solving, EndReason::GaveUp { why }),
            Next::Stage(stage) => self.go_on(solving, &stage),
        })
    }
}

impl Rest {
    /// Asks the last question, if there is one.
    async fn conclude(&self, outcome: Outcome) -> Outcome {
        let running = self.meter.run();
        self.meter.keep(None);

        let mut asked = None;
        if let Some(ask) = &self.conclusion {
            let done = self.ask(std::slice::from_ref(ask), None).await;
            asked = done.outcome.asked.into_iter().next();
        }

        drop(running);
        Outcome {
            conclusion: asked.filter(|asked| asked.reply.is_ok() || !asked.tries.is_empty()),
            spent: self.meter.spent(),
            ..outcome
        }
    }

    async fn do_work(&self, work: &StageWork) -> WorkDone {
        match work {
            StageWork::Say { .. } => WorkDone::default(),
            StageWork::Ask(ask) => self.ask(std::slice::from_ref(ask), None).await,
            StageWork::AskAll { asks, enough } => self.ask(asks, enough.as_ref()).await,
            StageWork::Call(calls) => self.call(calls).await,
        }
    }

    async fn ask(&self, asks: &[Ask], enough: Option<&Enough>) -> WorkDone {
        let questions = &self.shared.questions;
        let AllAsked { asked, error } = questions.ask_all(asks, enough, &self.meter).await;

        let outcome = Outcome {
            asked,
            ..Outcome::default()
        };
        WorkDone { outcome, error }
    }

    async fn call(&self, calls: &[PlannedCall]) -> WorkDone {
        let Shared {
            tools, questions, ..
        } = &*self.shared;
        let called = call_all(calls, tools, questions.at_once, &self.meter).await;

        let is_cut_short = called.iter().any(Option::is_none);
        let outcome = Outcome {
            called: called.into_iter().flatten().collect(),
            out_of: is_cut_short.then(|| self.meter.out_of_time().into()),
            ..Outcome::default()
        };

        WorkDone {
            outcome,
            error: None,
        }
    }
}

impl StageNode {
    /// Returns what the turn may spend.
    fn rest(&self, shared: Arc<Shared>, solving: &Solving, work: &StageWork) -> Rest {
        let conclusion = if shared.limits.concludes() {
            shared.driver.conclude(solving)
        } else {
            None
        };

        let is_before_end = shared.strategy.next(&self.stage).all(Stage::is_final);
        let is_last = is_before_end || work.asks_for_answer();
        let reserve = conclusion.as_ref().filter(|_| !is_last).map(|ask| {
            let request = shared.questions.request_in_lines(ask, 0);
            conclusion::reserve(&shared.limits, solving, &request)
        });

        let meter = solving.failed.share();
        Rest {
            meter: meter.with_limits(shared.limits, solving.spent),
            conclusion,
            reserve,
            shared,
        }
    }

    fn at(&self, error: SolveError) -> SolveError {
        error.at(self.stage.name(), Vec::new())
    }

    /// Ends the run if it failed because the session is full.
    fn stop_if_full(&self, solving: &mut Solving, error: SolveError) -> Result<Action, SolveError> {
        match error.session_full() {
            Some(reason) => Ok(self.stop(solving, reason)),
            None => Err(self.at(error)),
        }
    }

    /// Continues with the next stage, unless the run repeats itself.
    fn go_on(&self, solving: &mut Solving, next: &str) -> Action {
        if !is_stuck(&*self.shared.driver, solving) {
            return edges::to_stage(next);
        }

        let reason = EndReason::NoProgress {
            stage: self.stage.name().to_owned(),
            times: TIMES.into(),
        };
        self.stop(solving, reason)
    }

    /// Ends the run before its final stage, with the answer to the last question, if there is one.
    fn stop_with(
        &self,
        solving: &mut Solving,
        reason: EndReason,
        conclusion: Option<Asked>,
    ) -> Action {
        let action = self.stop(solving, reason);
        let Some(asked) = conclusion else {
            return action;
        };

        let calls: Vec<_> = self.calls(std::slice::from_ref(&asked), &[]).collect();
        solving.calls.extend(calls);

        let concluded = asked.reply.ok().as_ref().and_then(conclusion::answer);
        solving.best = concluded.or(solving.best.take());
        action
    }

    /// Ends the run before its final stage, with the best answer so far.
    fn stop(&self, solving: &mut Solving, reason: EndReason) -> Action {
        solving.best = self.shared.driver.answer(solving).or(solving.best.take());
        solving.end = Some(reason);
        edges::STOPPED
    }

    /// Records the calls, and adds a single question to the conversation.
    fn keep(
        &self,
        solving: &mut Solving,
        work: StageWork,
        asked: Vec<Asked>,
        called: Vec<Called>,
    ) -> Option<Done> {
        solving.calls.extend(self.calls(&asked, &called));
        match work {
            StageWork::Say { text, parameters } => Some(Done::Said { text, parameters }),
            StageWork::Ask(ask) => {
                let asked = asked.into_iter().next()?;
                let reply = asked.reply.ok()?;

                solving.add_message(ask.question_on(asked.format));
                solving.add_message(said(&ask, &solving.calls, &reply));

                Some(Done::Replied(reply))
            }
            StageWork::AskAll { asks, .. } => (!asks.is_empty()).then_some(Done::AllAsked(asked)),
            StageWork::Call(_) => Some(Done::Called(called)),
        }
    }

    fn calls_of(&self, outcome: Outcome) -> Vec<Call> {
        self.calls(&outcome.asked, &outcome.called).collect()
    }

    fn calls<'a>(
        &'a self,
        asked: &'a [Asked],
        called: &'a [Called],
    ) -> impl Iterator<Item = Call> + 'a {
        let stage = || self.stage.name().to_owned();
        let asked = asked.iter().map(move |asked| Call::Model {
            stage: stage(),
            name: asked.name.clone(),
            tries: asked.tries.clone(),
            format: asked.format,
            refusals: asked.refusals.clone(),
            repairs: asked.repairs.clone(),
            problem: asked.reply.as_ref().err().map(ToString::to_string),
        });

        let called = called.iter().map(move |called| Call::Tool {
            stage: stage(),
            id: called.id.clone(),
            tool: called.tool.clone(),
            input: called.input.clone(),
            output: called.output.clone(),
            failed: called.failed,
        });

        asked.chain(called)
    }
}

/// Returns the reply as the model wrote it, so that the conversation stays unchanged.
fn said(ask: &Ask, calls: &[Call], reply: &StageReply) -> Message {
    let raw = match calls.last() {
        Some(Call::Model { name, tries, .. }) if *name == ask.name => {
            tries.last().map(|last| last.reply.as_str())
        }
        _ => None,
    };
    let message = Message::assistant(raw.unwrap_or(reply.text.as_str()))
        .with_tool_calls(reply.tool_calls.iter().cloned());

    match &reply.provider_data {
        Some(data) => message.with_provider_data(data.clone()),
        None => message,
    }
}

fn first_problem(asked: &[Asked]) -> String {
    let problem = asked.iter().find_map(|asked| match &asked.reply {
        Err(AskProblem::Unreadable(problem)) => Some(problem.clone()),
        _ => None,
    });
    problem.unwrap_or_else(|| "nothing was asked".to_owned())
}
