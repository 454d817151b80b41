mod settings;
mod state;

pub use settings::Scratchpad;

use cogwork_tools::Tools;
use serde_json::{Map, Value};

use self::state::STATE;
use super::answering::{answered, ask, ask_for_answer, draft, say_answer, says_yes, take_answer};
use super::stage_names::{StageName, stage_names};
use crate::{
    Answer, Ask, Done, Driver, Next, Parameter, ParameterType, SolveError, Solving, Stage,
    StageReply, StageTurn, StageWork, Strategy, StrategyName, Thought, ThoughtDraft,
};

stage_names! {
    /// The stages of `scratchpad`.
    enum ScratchpadStage for Scratchpad {
        ProblemReception = "problem_reception",
        ScratchpadInitialization = "scratchpad_initialization",
        IterativeCalculation = "iterative_calculation",
        StateTracking = "state_tracking",
        ContinuationDecision = "continuation_decision",
        ResultExtraction = "result_extraction",
        FinalResponse = "final_response",
    }
}

/// The field for whether a step is the last one, and the note that keeps its value.
const DONE: &str = "done";

/// The note with the variables after a step, until they are tracked.
const AFTER: &str = "after";

impl Driver for Scratchpad {
    fn strategy(&self) -> Strategy {
        StrategyName::Scratchpad.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem with a scratchpad of named variables: you do one step of the \
         calculation at a time and say which variables it changes; the program keeps them."
            .to_owned()
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let solving = turn.solving;

        Ok(match ScratchpadStage::of(turn.stage.name())? {
            ScratchpadStage::ProblemReception => StageWork::say(solving.problem()),
            ScratchpadStage::ScratchpadInitialization => StageWork::Ask(first_values(turn)),
            ScratchpadStage::IterativeCalculation => StageWork::Ask(step(turn)),
            ScratchpadStage::StateTracking => track(solving),
            ScratchpadStage::ContinuationDecision => self.decide(solving),
            ScratchpadStage::ResultExtraction => {
                StageWork::Ask(ask_for_answer(turn, ask(turn, turn.stage.prompt())))
            }
            ScratchpadStage::FinalResponse => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let at = ScratchpadStage::of(stage.name())?;

        let thought = match at {
            ScratchpadStage::ScratchpadInitialization => take_first_values(stage, &done),
            ScratchpadStage::IterativeCalculation => take_step(solving, stage, &done),
            ScratchpadStage::StateTracking => {
                // The variables are now a parameter of the thought.
                solving.take_note(AFTER);
                done.draft_at(stage)
            }
            ScratchpadStage::ResultExtraction => take_answer(solving, stage, &done),
            ScratchpadStage::ProblemReception
            | ScratchpadStage::ContinuationDecision
            | ScratchpadStage::FinalResponse => done.draft_at(stage),
        };

        solving.think(thought)?;

        if at == ScratchpadStage::ContinuationDecision {
            return Ok(self.after_decision(solving));
        }

        Ok(done.next_of(stage))
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving)
    }

    /// Returns the variables.
    fn progress(&self, thought: &Thought) -> Option<String> {
        if !ScratchpadStage::StateTracking.is_stage_of(thought) {
            return None;
        }
        thought.parameter(STATE).map(Value::to_string)
    }
}

impl Scratchpad {
    fn is_over(&self, solving: &Solving) -> bool {
        steps(solving) >= self.max_steps
    }

    fn decide(&self, solving: &Solving) -> StageWork {
        if is_noted_done(solving) {
            StageWork::say("The result is there.")
        } else if self.is_over(solving) {
            StageWork::say("No more steps may be made.")
        } else {
            StageWork::say("Another step is needed.")
        }
    }

    fn after_decision(&self, solving: &Solving) -> Next {
        if is_noted_done(solving) || self.is_over(solving) {
            Next::stage(ScratchpadStage::ResultExtraction.name())
        } else {
            Next::stage(ScratchpadStage::IterativeCalculation.name())
        }
    }
}

fn first_values(turn: &StageTurn<'_>) -> Ask {
    let values = Parameter::new(map_of_any(), "the variables and their values");
    ask(turn, turn.stage.prompt())
        .with_field(STATE, values)
        .with_check(|reply| state::changed(&Map::new(), reply).map(drop))
}

fn step(turn: &StageTurn<'_>) -> Ask {
    let before = state::of(turn.solving);
    let shown = Value::Object(before.clone());
    let prompt = format!("The scratchpad: {shown}\n\n{}", turn.stage.prompt());

    let changes = "the variables that the step changes, with their new values";
    let changes = Parameter::new(map_of_any(), changes);
    let is_last = "whether the scratchpad contains the result now";
    let is_last = Parameter::new(ParameterType::Boolean, is_last);

    ask(turn, prompt)
        .with_field(STATE, changes.optional())
        .with_field(DONE, is_last)
        .with_check(move |reply| state::changed(&before, reply).map(drop))
}

/// Returns the variables after a checked reply.
fn after(before: &Map<String, Value>, reply: &StageReply) -> Map<String, Value> {
    state::changed(before, reply).unwrap_or_else(|_| before.clone())
}

fn take_first_values(stage: &Stage, done: &Done) -> ThoughtDraft {
    let Some(reply) = done.reply() else {
        return done.draft_at(stage);
    };

    let state = after(&Map::new(), reply);
    draft(stage, &reply.text, "The scratchpad to begin with.").with(STATE, state)
}

fn take_step(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let Some(reply) = done.reply() else {
        return done.draft_at(stage);
    };

    let after = after(&state::of(solving), reply);
    solving.set_note(AFTER, after);
    solving.set_note(DONE, says_yes(reply, DONE));

    draft(stage, &reply.text, "A step.")
}

fn track(solving: &Solving) -> StageWork {
    let after = solving.note(AFTER).cloned().unwrap_or_default();
    StageWork::say("The scratchpad after the step.").with(STATE, after)
}

fn map_of_any() -> ParameterType {
    ParameterType::Map {
        values: Box::new(ParameterType::Any),
    }
}

fn is_noted_done(solving: &Solving) -> bool {
    solving
        .note(DONE)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// Returns the number of steps so far.
fn steps(solving: &Solving) -> usize {
    solving
        .path()
        .filter(|thought| ScratchpadStage::StateTracking.is_stage_of(thought))
        .count()
}
