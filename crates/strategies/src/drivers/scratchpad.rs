use std::fmt::Write;

use serde_json::{Map, Value};

use super::answering::{ANSWER, answer_field, answered, draft, keep_answer, say_answer};
use super::state::{self, Variable};
use crate::{
    Answer, Ask, Done, Driver, Next, Parameter, ParameterType, SolveError, Solving, Stage, Strategy,
    StrategyName, Thought, Turn, Work,
};
use cogwork_tools::Tools;

/// Keep named variables, and calculate with them until the result stands there (Nye et al. 2021).
///
/// One call for the values to begin with, one a step, and none for the result where it is
/// [a variable](Self::with_result). The program keeps the variables: a step says only those that change, and
/// each thought of `state_tracking` holds them all. A value of the wrong type, and a variable that is not
/// one, are asked for again with the complaint. Up to 64 variables, 64 KiB of JSON in all.
///
/// | stage | who speaks |
/// |---|---|
/// | `problem_reception` | the program: the problem as it is |
/// | `scratchpad_initialization` | the model: the variables and what they begin with |
/// | `iterative_calculation` | the model: a step, what it changes, and whether it was the last |
/// | `state_tracking` | the program: all variables after it |
/// | `continuation_decision` | the program: what the model said |
/// | `result_extraction` | the program: the value of the variable with the result; else the model |
/// | `final_response` | the program: the same |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{ParameterType, Scratchpad, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let number = ParameterType::Number { min: None, max: None };
/// let driver = Scratchpad::new().with_variable("total", number, "the product so far").with_result("total");
/// let client = ScriptedClient::new([
///     r#"state_variables: {"total": 0}"#,
///     "thought: 17 * 3 is 51.\nstate_variables: total = fifty-one\ndone: yes",
///     "thought: 17 * 3 is 51.\nstate_variables: total = 51\ndone: yes",
/// ]);
/// let solved = Solver::new(client.clone(), driver).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// let last = client.requests().pop().ok_or("no request")?;
/// assert_eq!(
///     last.messages().last().map(|message| message.text()),
///     Some(
///         "That reply cannot be used: `state_variables.total` is the text \"fifty-one\", expected a number.\n\
///          Write the whole reply again, in the form that was asked for."
///     ),
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scratchpad {
    variables: Vec<Variable>,
    others: Option<bool>,
    result: Option<String>,
    max_steps: usize,
}

impl Default for Scratchpad {
    fn default() -> Self {
        Self { variables: Vec::new(), others: None, result: None, max_steps: 30 }
    }
}

impl Scratchpad {
    /// With the default settings: the model names the variables, of any type.
    pub fn new() -> Self {
        Self::default()
    }

    /// A variable, with its type and what the model is told of it. Default: none; one of the same name
    /// takes its place.
    #[must_use]
    pub fn with_variable(
        mut self,
        name: impl Into<String>,
        kind: ParameterType,
        description: impl Into<String>,
    ) -> Self {
        let variable = Variable { name: name.into(), parameter: Parameter::new(kind, description) };
        self.variables.retain(|known| known.name != variable.name);
        self.variables.push(variable);
        self
    }

    /// Whether the model may keep variables of its own, of any type. Default: only where no
    /// [variable](Self::with_variable) is set.
    #[must_use]
    pub fn with_other_variables(mut self, others: bool) -> Self {
        self.others = Some(others);
        self
    }

    /// The variable that holds the result: its value is the answer, and no call is made to ask for it.
    /// Unset: the model reads the result.
    #[must_use]
    pub fn with_result(mut self, variable: impl Into<String>) -> Self {
        self.result = Some(variable.into());
        self
    }

    /// How many steps may be calculated; then the result is read from what there is. Default: 30; at least
    /// 1.
    #[must_use]
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps.max(1);
        self
    }

    fn takes_others(&self) -> bool {
        self.others.unwrap_or(self.variables.is_empty())
    }

    /// A question whose reply has variables, held against what they may be.
    fn ask(&self, turn: &Turn<'_>, instruction: String, description: &str, is_first: bool) -> Ask {
        let kind = ParameterType::Map { values: Box::new(ParameterType::Any) };
        let (variables, others, result) = (self.variables.clone(), self.takes_others(), self.result.clone());
        let before = if is_first { Map::new() } else { state::of(turn.solving) };
        let mut field = Parameter::new(kind, description);
        if !is_first {
            field = field.optional();
        }
        Ask::new(turn.solving.transcript().clone(), instruction).with_field(STATE, field).with_check(
            move |reply| {
                let given = reply.fields.get(STATE).and_then(Value::as_object).cloned().unwrap_or_default();
                let after = state::changed(&variables, others, &before, given)?;
                if is_first {
                    state::lacks_none(&variables, &after)?;
                }
                match &result {
                    Some(result) if is_done(reply) && state::text(&after, result).is_none() => {
                        Err(format!("`{DONE}` is true, but `{result}` has no value yet; expected one"))
                    }
                    _ => Ok(()),
                }
            },
        )
    }

    /// The variables as a reply leaves them. The reply was held against their types, so nothing is lost.
    fn after(&self, reply: &crate::Reply, before: &Map<String, Value>) -> Map<String, Value> {
        let given = reply.fields.get(STATE).and_then(Value::as_object).cloned().unwrap_or_default();
        state::changed(&self.variables, self.takes_others(), before, given).unwrap_or_else(|_| before.clone())
    }

    fn result(&self, solving: &Solving) -> Option<String> {
        self.result.as_ref().and_then(|result| state::text(&state::of(solving), result))
    }
}

const STATE: &str = state::PARAMETER;
const DONE: &str = "done";
/// The variables after a step, until they are tracked.
const AFTER: &str = "after";

impl Driver for Scratchpad {
    fn strategy(&self) -> Strategy {
        StrategyName::Scratchpad.strategy()
    }

    fn instructions(&self, _: &Tools, _: bool) -> String {
        let mut text = "You solve a problem with a scratchpad of named variables: you do one step of the \
                        calculation at a time and say which variables it changes; the program keeps them."
            .to_owned();
        if !self.variables.is_empty() {
            text.push_str("\n\nThe variables:");
        }
        for Variable { name, parameter } in &self.variables {
            let description = match parameter.description() {
                "" => String::new(),
                description => format!(", {description}"),
            };
            // Writing to a string does not fail.
            let _ = write!(text, "\n- {name}: {}{description}", parameter.kind());
        }
        match (self.variables.is_empty(), self.takes_others()) {
            (false, true) => text.push_str("\nYou may keep others as well."),
            (false, false) => text.push_str("\nThere are no others."),
            (true, _) => {}
        }
        if let Some(result) = &self.result {
            let _ = write!(text, "\nThe result is to stand in `{result}`.");
        }
        text
    }

    fn work(&self, turn: &Turn<'_>) -> Result<Work, SolveError> {
        let solving = turn.solving;
        Ok(match turn.stage.name() {
            "problem_reception" => {
                self.check_settings()?;
                Work::say(solving.problem())
            }
            "scratchpad_initialization" => {
                let prompt = match self.variables.is_empty() {
                    true => turn.stage.prompt(),
                    false => "Give the value that each variable begins with; null where it has none yet.",
                };
                Work::Ask(self.ask(turn, prompt.to_owned(), "the variables and their values", true))
            }
            "iterative_calculation" => {
                let shown = Value::Object(state::of(solving));
                let prompt = format!("The scratchpad: {shown}\n\n{}", turn.stage.prompt());
                let last =
                    Parameter::new(ParameterType::Boolean, "whether the result stands on the scratchpad now");
                let ask = self.ask(
                    turn,
                    prompt,
                    "the variables that the step changes, with their new values",
                    false,
                );
                Work::Ask(ask.with_field(DONE, last))
            }
            "state_tracking" => {
                let after = solving.note(AFTER).cloned().unwrap_or_default();
                Work::say("The scratchpad after the step.").with(STATE, after)
            }
            "continuation_decision" if is_noted_done(solving) => Work::say("The result is there."),
            "continuation_decision" if steps(solving) >= self.max_steps => {
                Work::say("No more steps may be made.")
            }
            "continuation_decision" => Work::say("Another step is needed."),
            "result_extraction" => match self.result(solving) {
                Some(result) => Work::say(result),
                None => Work::Ask(
                    Ask::new(solving.transcript().clone(), turn.stage.prompt())
                        .with_field(ANSWER, answer_field()),
                ),
            },
            _ => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let mut next = done.next_of(stage);
        let thought = match (done.reply(), stage.name()) {
            (Some(reply), "scratchpad_initialization") => {
                let state = self.after(reply, &Map::new());
                draft(stage, &reply.text, "The scratchpad to begin with.").with(STATE, state)
            }
            (Some(reply), "iterative_calculation") => {
                let after = self.after(reply, &state::of(solving));
                solving.set_note(AFTER, after);
                solving.set_note(DONE, is_done(reply));
                draft(stage, &reply.text, "A step.")
            }
            (Some(reply), _) => {
                keep_answer(solving, reply);
                draft(stage, &reply.text, reply.field(ANSWER))
            }
            (None, _) => done.draft_at(stage),
        };
        match stage.name() {
            "state_tracking" => drop(solving.take_note(AFTER)),
            "continuation_decision" if is_noted_done(solving) || steps(solving) >= self.max_steps => {
                next = Next::stage("result_extraction");
            }
            "continuation_decision" => next = Next::stage("iterative_calculation"),
            "result_extraction" if matches!(done, Done::Said { .. }) => {
                solving.set_note(ANSWER, thought.thought.as_str());
            }
            _ => {}
        }
        solving.think(thought)?;
        Ok(next)
    }

    /// The answer that was read; before, what the variable with the result holds.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving).or_else(|| self.result(solving).map(Answer::new))
    }

    /// The variables.
    fn progress(&self, thought: &Thought) -> Option<String> {
        let tracked = thought.stage().name() == "state_tracking";
        thought.parameter(STATE).filter(|_| tracked).map(Value::to_string)
    }
}

impl Scratchpad {
    fn check_settings(&self) -> Result<(), SolveError> {
        if self.variables.len() > state::MAX_VARIABLES {
            return Err(SolveError::driver(format!(
                "there are {} variables; expected at most {}",
                self.variables.len(),
                state::MAX_VARIABLES
            )));
        }
        let known = |name: &String| self.variables.iter().any(|variable| variable.name == *name);
        match &self.result {
            Some(result) if !self.takes_others() && !known(result) => Err(SolveError::driver(format!(
                "the result is to stand in `{result}`, which is no variable; expected {}",
                state::names(&self.variables)
            ))),
            _ => Ok(()),
        }
    }
}

fn is_done(reply: &crate::Reply) -> bool {
    reply.fields.get(DONE).and_then(Value::as_bool).unwrap_or_default()
}

fn is_noted_done(solving: &Solving) -> bool {
    solving.note(DONE).and_then(Value::as_bool).unwrap_or_default()
}

fn steps(solving: &Solving) -> usize {
    solving.path().filter(|thought| thought.stage().name() == "state_tracking").count()
}
