mod settings;
mod state;

pub use settings::Scratchpad;

use std::fmt::Write;

use cogwork_tools::Tools;
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{NoAnswer, no_answer};
use serde_json::{Map, Value, json};

use self::state::Variable;
use super::answering::{
    ANSWER, answered, ask, ask_for_answer, conclude_unless, draft, say_answer, says_yes,
    take_answer,
};
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

/// The field and the parameter with the variables.
const STATE: &str = state::PARAMETER;

/// The field for whether a step is the last one, and the note that keeps its value.
const DONE: &str = "done";

/// The note with the variables after a step, until they are tracked.
const AFTER: &str = "after";

impl Driver for Scratchpad {
    fn strategy(&self) -> Strategy {
        StrategyName::Scratchpad.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        let mut text = "You solve a problem with a scratchpad of named variables: you do one step of the \
                        calculation at a time and say which variables it changes; the program keeps them."
            .to_owned();

        text.push_str(&self.variable_list());
        if let Some(result) = &self.result {
            // Writing to a string doesn't fail.
            let _ = write!(text, "\nThe result must be in `{result}`.");
        }

        text
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let solving = turn.solving;

        Ok(match ScratchpadStage::of(turn.stage.name())? {
            ScratchpadStage::ProblemReception => self.receive_problem(solving)?,
            ScratchpadStage::ScratchpadInitialization => StageWork::Ask(self.first_values(turn)),
            ScratchpadStage::IterativeCalculation => StageWork::Ask(self.step(turn)),
            ScratchpadStage::StateTracking => track(solving),
            ScratchpadStage::ContinuationDecision => self.decide(solving),
            ScratchpadStage::ResultExtraction => self.extract_result(turn),
            ScratchpadStage::FinalResponse => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let at = ScratchpadStage::of(stage.name())?;

        let thought = match at {
            ScratchpadStage::ScratchpadInitialization => self.take_first_values(stage, &done),
            ScratchpadStage::IterativeCalculation => self.take_step(solving, stage, &done),
            ScratchpadStage::StateTracking => {
                // The variables are now a parameter of the thought.
                solving.take_note(AFTER);
                done.draft_at(stage)
            }
            ScratchpadStage::ResultExtraction => take_result(solving, stage, &done),
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

    /// Returns the answer, or the value of the result variable until there is one.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving).or_else(|| self.result(solving).map(Answer::new))
    }

    fn conclude(&self, solving: &Solving) -> Option<Ask> {
        conclude_unless(answered(solving).is_some(), solving)
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
    fn takes_others(&self) -> bool {
        self.others.unwrap_or(self.variables.is_empty())
    }

    fn is_over(&self, solving: &Solving) -> bool {
        steps(solving) >= self.max_steps
    }

    /// Returns the value of the result variable, once it has one that is an answer.
    fn result(&self, solving: &Solving) -> Option<String> {
        let result = self.result.as_ref()?;
        let value = state::text(&state::of(solving), result)?;

        self.no_result(result, &value, solving.problem())
            .is_none()
            .then_some(value)
    }

    /// Returns why a value of the result variable isn't an answer. A choice of the variable is one,
    /// even if it is called `none`.
    fn no_result(&self, name: &str, value: &str, problem: &str) -> Option<NoAnswer> {
        let is_choice = |variable: &Variable| {
            variable.name == name && variable.parameter.kind().has_choice(value)
        };

        if self.variables.iter().any(is_choice) {
            return None;
        }
        no_answer(value, problem)
    }

    /// Returns the description of the variables for the model.
    fn variable_list(&self) -> String {
        if self.variables.is_empty() {
            return String::new();
        }

        let mut text = "\n\nThe variables:".to_owned();
        for Variable { name, parameter } in &self.variables {
            // Writing to a string doesn't fail.
            let _ = write!(text, "\n- {name}: {}", parameter.kind());
            if !parameter.description().is_empty() {
                let _ = write!(text, ", {}", parameter.description());
            }
        }

        let others = if self.takes_others() {
            "\nYou may keep others as well."
        } else {
            "\nThere are no others."
        };

        text.push_str(others);
        text
    }

    fn receive_problem(&self, solving: &Solving) -> Result<StageWork, SolveError> {
        self.check_settings()?;
        Ok(StageWork::say(solving.problem()))
    }

    fn check_settings(&self) -> Result<(), SolveError> {
        let count = self.variables.len();
        if count > state::MAX_VARIABLES {
            return Err(SolveError::driver(format!(
                "there are {count} variables; expected at most {}",
                state::MAX_VARIABLES
            )));
        }

        let Some(result) = &self.result else {
            return Ok(());
        };

        let is_known = self
            .variables
            .iter()
            .any(|variable| variable.name == *result);
        if is_known || self.takes_others() {
            return Ok(());
        }

        Err(SolveError::driver(format!(
            "the result variable `{result}` is not defined; expected {}",
            state::names(&self.variables)
        )))
    }

    fn first_values(&self, turn: &StageTurn<'_>) -> Ask {
        let prompt = if self.variables.is_empty() {
            turn.stage.prompt()
        } else {
            "Give the value that each variable begins with; null where it has none yet."
        };

        let settings = self.clone();
        let check = move |reply: &StageReply| {
            let state = settings.changed(&Map::new(), reply)?;
            state::lacks_none(&settings.variables, &state)
        };

        let values = Parameter::new(map_of_any(), "the variables and their values");
        ask(turn, prompt)
            .with_field(STATE, values)
            .narrowed(STATE, |key| self.first_values_only(key))
            .with_check(check)
    }

    fn step(&self, turn: &StageTurn<'_>) -> Ask {
        let before = state::of(turn.solving);
        let shown = Value::Object(before.clone());
        let prompt = format!("The scratchpad: {shown}\n\n{}", turn.stage.prompt());

        let settings = self.clone();
        let problem = turn.solving.problem().to_owned();
        let check = move |reply: &StageReply| {
            let after = settings.changed(&before, reply)?;
            if says_yes(reply, DONE) {
                settings.check_result(&after, &problem)
            } else {
                Ok(())
            }
        };

        let changes = "the variables that the step changes, with their new values";
        let changes = Parameter::new(map_of_any(), changes);
        let is_last = "whether the scratchpad contains the result now";
        let is_last = Parameter::new(ParameterType::Boolean, is_last);

        ask(turn, prompt)
            .with_field(STATE, changes.optional())
            .narrowed(STATE, |key| self.changes_only(key))
            .with_field(DONE, is_last)
            .with_check(check)
    }

    /// Asks for first values of all variables of the settings, if there are no others.
    fn first_values_only(&self, key: AnswerKey) -> AnswerKey {
        if self.takes_others() {
            return key;
        }

        let field = |variable: &Variable| {
            let parameter = variable.parameter.clone().optional();
            (variable.name.clone(), parameter)
        };
        let fields = self.variables.iter().map(field).collect();
        key.offering(&ParameterType::Object { fields }.schema())
    }

    /// Asks for new values of the variables of the settings, if there are no others.
    fn changes_only(&self, key: AnswerKey) -> AnswerKey {
        if self.takes_others() {
            return key;
        }

        let names = self.variables.iter().map(|variable| &variable.name);
        let names: Vec<&String> = names.collect();
        let change = json!({
            "type": "object",
            "properties": {"name": {"enum": names}, "value": {}},
            "required": ["name", "value"],
        });
        key.offering(&json!({"type": "array", "items": change}))
    }

    /// Checks that the result variable has a value that is an answer.
    fn check_result(&self, state: &Map<String, Value>, problem: &str) -> Result<(), String> {
        let Some(result) = &self.result else {
            return Ok(());
        };

        let Some(value) = state::text(state, result) else {
            return Err(format!(
                "`{DONE}` is true, but `{result}` has no value yet; expected one"
            ));
        };

        match self.no_result(result, &value, problem) {
            Some(reason) => Err(format!("`{DONE}` is true, but `{result}` {reason}")),
            None => Ok(()),
        }
    }

    /// Returns the variables with the values of a reply.
    ///
    /// # Errors
    ///
    /// Returns a description of the problems for the model.
    fn changed(
        &self,
        before: &Map<String, Value>,
        reply: &StageReply,
    ) -> Result<Map<String, Value>, String> {
        let given = reply
            .fields
            .get(STATE)
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        state::changed(&self.variables, self.takes_others(), before, given)
    }

    /// Returns the variables after a checked reply.
    fn after(&self, before: &Map<String, Value>, reply: &StageReply) -> Map<String, Value> {
        self.changed(before, reply)
            .unwrap_or_else(|_| before.clone())
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

    fn extract_result(&self, turn: &StageTurn<'_>) -> StageWork {
        match self.result(turn.solving) {
            Some(result) => StageWork::say(result),
            None => StageWork::Ask(ask_for_answer(turn, ask(turn, turn.stage.prompt()))),
        }
    }

    fn take_first_values(&self, stage: &Stage, done: &Done) -> ThoughtDraft {
        let Some(reply) = done.reply() else {
            return done.draft_at(stage);
        };

        let state = self.after(&Map::new(), reply);
        draft(stage, &reply.text, "The scratchpad to begin with.").with(STATE, state)
    }

    fn take_step(&self, solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
        let Some(reply) = done.reply() else {
            return done.draft_at(stage);
        };

        let after = self.after(&state::of(solving), reply);
        solving.set_note(AFTER, after);
        solving.set_note(DONE, says_yes(reply, DONE));

        draft(stage, &reply.text, "A step.")
    }
}

fn track(solving: &Solving) -> StageWork {
    let after = solving.note(AFTER).cloned().unwrap_or_default();
    StageWork::say("The scratchpad after the step.").with(STATE, after)
}

/// Keeps the result as the answer, even if the model wasn't asked for it.
fn take_result(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let thought = take_answer(solving, stage, done);
    if matches!(done, Done::Said { .. }) {
        solving.set_note(ANSWER, thought.thought.as_str());
    }

    thought
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
