mod settings;
mod state;

pub use settings::Scratchpad;

use std::fmt::Write;

use cogwork_tools::Tools;
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::{NoAnswer, no_answer};
use serde_json::{Map, Value, json};

use self::state::{PARAMETER as STATE, Variable};
use super::answering::{ask_for_answer, or};
use crate::{
    Answer, Ask, Method, Parameter, ParameterType, Solve, StageReply, Stop, Strategy, StrategyName,
    ThoughtDraft,
};

/// The field for whether a step is the last one.
const DONE: &str = "done";

impl Method for Scratchpad {
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

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        self.check_settings()?;
        cx.think_problem()?;

        let mut state = self.begin(cx)?;
        for step in 1..=self.max_steps {
            let is_done = self.step(cx, &mut state)?;
            let decision = if is_done {
                "The result is there."
            } else if step == self.max_steps {
                "No more steps may be made."
            } else {
                "Another step is needed."
            };
            cx.think("continuation_decision", decision)?;
            if is_done {
                break;
            }
        }

        let stage = "result_extraction";
        let answer = match self.result(&state, cx.problem()) {
            Some(result) => {
                cx.keep(&*result);
                cx.think(stage, &*result)?;
                result
            }
            None => {
                let prompt = cx.prompt(&[stage])?;
                ask_for_answer(cx, stage, &prompt)?
            }
        };
        cx.think("final_response", &*answer)?;
        Ok(answer.into())
    }
}

impl Scratchpad {
    fn takes_others(&self) -> bool {
        self.others.unwrap_or(self.variables.is_empty())
    }

    /// Returns the value of the result variable, once it has one that is an answer.
    fn result(&self, state: &Map<String, Value>, problem: &str) -> Option<String> {
        let result = self.result.as_ref()?;
        let value = state::text(state, result)?;

        let reason = self.no_result(result, &value, problem);
        reason.is_none().then_some(value)
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

    fn check_settings(&self) -> Result<(), Stop> {
        let count = self.variables.len();
        if count > state::MAX_VARIABLES {
            return Err(Stop::fail(format!(
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

        Err(Stop::fail(format!(
            "the result variable `{result}` is not defined; expected {}",
            state::names(&self.variables)
        )))
    }

    /// Asks for the first values of the variables.
    fn begin(&self, cx: &mut Solve) -> Result<Map<String, Value>, Stop> {
        let stage = "scratchpad_initialization";
        let prompt = if self.variables.is_empty() {
            cx.prompt(&[stage])?
        } else {
            "Give the value that each variable begins with; null where it has none yet.".to_owned()
        };

        let settings = self.clone();
        let check = move |reply: &StageReply| {
            let state = settings.changed(&Map::new(), reply)?;
            state::lacks_none(&settings.variables, &state)
        };

        let values = Parameter::new(map_of_any(), "the variables and their values");
        let question = Ask::new(prompt)
            .with_field(STATE, values)
            .narrowed(STATE, |key| self.first_values_only(key))
            .with_check(check);
        let reply = cx.ask(stage, question)?;

        let state = self.changed(&Map::new(), &reply).unwrap_or_default();
        let thought = ThoughtDraft::at(stage, or(&reply.text, "The scratchpad to begin with."));
        cx.add(thought.with(STATE, state.clone()))?;
        self.keep_result(cx, &state);
        Ok(state)
    }

    /// Asks for a step, and changes the variables. Returns whether the step was the last one.
    fn step(&self, cx: &mut Solve, state: &mut Map<String, Value>) -> Result<bool, Stop> {
        let stage = "iterative_calculation";
        let before = state.clone();
        let shown = Value::Object(before.clone());
        let prompt = format!("The scratchpad: {shown}\n\n{}", cx.prompt(&[stage])?);

        let settings = self.clone();
        let problem = cx.problem().to_owned();
        let check = move |reply: &StageReply| {
            let after = settings.changed(&before, reply)?;
            if reply.is_true(DONE) {
                settings.check_result(&after, &problem)
            } else {
                Ok(())
            }
        };

        let changes = "the variables that the step changes, with their new values";
        let changes = Parameter::new(map_of_any(), changes);
        let is_last = "whether the scratchpad contains the result now";
        let is_last = Parameter::new(ParameterType::Boolean, is_last);
        let question = Ask::new(prompt)
            .with_field(STATE, changes.optional())
            .narrowed(STATE, |key| self.changes_only(key))
            .with_field(DONE, is_last)
            .with_check(check);
        let reply = cx.ask(stage, question)?;

        *state = self.changed(state, &reply).map_err(Stop::fail)?;
        cx.think(stage, or(&reply.text, "A step."))?;
        let tracked = ThoughtDraft::at("state_tracking", "The scratchpad after the step.");
        cx.add(tracked.with(STATE, state.clone()))?;
        self.keep_result(cx, state);
        cx.progress(Value::Object(state.clone()).to_string())?;
        Ok(reply.is_true(DONE))
    }

    /// Keeps the value of the result variable as the best answer until the end.
    fn keep_result(&self, cx: &mut Solve, state: &Map<String, Value>) {
        if let Some(result) = self.result(state, cx.problem()) {
            cx.keep_guess(&result);
        }
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
}

fn map_of_any() -> ParameterType {
    ParameterType::Map {
        values: Box::new(ParameterType::Any),
    }
}
