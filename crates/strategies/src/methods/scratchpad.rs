use cogwork_text::{Name, NameList};
use cogwork_tools::Tools;
use cogwork_typed::AnswerKey;
use cogwork_typed::ask::no_answer;
use serde_json::{Map, Value, json};

use super::shared::{ask_for_answer, or, respond};
use crate::session::ThoughtDraft;
use crate::solve::typed;
use crate::table::{Parameter, ParameterType};
use crate::{Answer, Ask, Method, Solve, StageReply, Stop, Strategy, StrategyName};

/// Calculates with named variables until they contain the result (Nye et al. 2021).
///
/// The model is called once for the initial values and once for each step. It isn't called for the
/// result if the result is a variable. A step only needs to set the variables
/// that change; each thought of `state_tracking` contains all of them. If a value is of the wrong
/// type or a variable is unknown, the model is asked again. The variables can have up to 64 KiB of
/// JSON in total. If a run is stopped, its best answer is the result variable, or else the last
/// step.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `scratchpad_initialization` | the model: the variables and their first values |
/// | `iterative_calculation` | the model: a step, its changes, and whether it is the last one |
/// | `state_tracking` | the method: all variables after the step |
/// | `continuation_decision` | the method |
/// | `result_extraction` | the method: the value of the result variable; otherwise, the model |
/// | `final_response` | the method: the result |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::Solver;
/// use cogwork_strategies::methods::Scratchpad;
/// use cogwork_strategies::table::{Parameter, ParameterType};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let number = ParameterType::Number { min: None, max: None };
/// let method = Scratchpad {
///     variables: vec![("total".to_owned(), Parameter::new(number, "the product so far"))],
///     result: Some("total".to_owned()),
///     ..Scratchpad::default()
/// };
/// let client = ScriptedClient::new([
///     r#"state_variables: {"total": 0}"#,
///     "thought: 17 * 3 is 51.\nstate_variables: total = fifty-one\ndone: yes",
///     "thought: 17 * 3 is 51.\nstate_variables: total = 51\ndone: yes",
/// ]);
/// let solved = Solver::new(client.clone(), method).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// let last = client.requests().pop().ok_or("no request")?;
/// assert_eq!(
///     last.messages().last().map(|message| message.text()),
///     Some(
///         "That reply cannot be used: `state_variables.total`: found the text \"fifty-one\"; expected a number.\n\
///          Write the whole reply again, in the form that was asked for."
///     ),
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scratchpad {
    /// The variables, by name. By default, there are none, and the model chooses them and their
    /// types. Otherwise, it may not add others.
    pub variables: Vec<(String, Parameter)>,
    /// The variable that contains the result. Its value is the answer, and the model isn't asked for
    /// one. By default, the model is asked.
    pub result: Option<String>,
    /// The maximum number of steps, which is at least 1. Once it is reached, the result is determined
    /// from the current variables. The default is 30.
    pub max_steps: usize,
}

impl Default for Scratchpad {
    fn default() -> Self {
        Self {
            variables: Vec::new(),
            result: None,
            max_steps: 30,
        }
    }
}

// The fields of a step: the variables that it changes, and whether it is the last one.
const STATE: &str = "state_variables";
const DONE: &str = "done";

/// The maximum length of all variables in JSON.
const MAX_BYTES: usize = 64 * 1024;

/// The values of the variables.
type State = Map<String, Value>;

impl Method for Scratchpad {
    fn strategy(&self) -> Strategy {
        StrategyName::Scratchpad.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        let variables = self.variable_list();
        let result = self.result.as_ref();
        let result = result.map(|result| format!("\nThe result must be in `{result}`."));
        let result = result.unwrap_or_default();
        format!(
            "You solve a problem with a scratchpad of named variables: you do one step of the \
             calculation at a time and say which variables it changes; the program keeps them.{variables}{result}"
        )
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        // A result that no variable can hold would only be noticed at the end.
        self.check_settings()?;
        cx.think_problem()?;

        let mut state = self.begin(cx)?;
        for step in 1.. {
            let is_done = self.step(cx, &mut state)?;
            let is_last = step >= self.max_steps;
            let decision = match (is_done, is_last) {
                (true, _) => "The result is there.",
                (false, true) => "No more steps may be made.",
                (false, false) => "Another step is needed.",
            };
            cx.think("continuation_decision", decision)?;
            if is_done || is_last {
                break;
            }
        }

        let stage = "result_extraction";
        let answer = match self.result(&state, cx.problem()) {
            Ok(Some(result)) => {
                cx.keep(&*result);
                cx.think(stage, &*result)?;
                result
            }
            _ => {
                let question = Ask::of(cx.prompt(&[stage])?);
                ask_for_answer(cx, stage, question)?
            }
        };
        respond(cx, answer)
    }
}

impl Scratchpad {
    fn variable(&self, name: &str) -> Option<&Parameter> {
        let mut variables = self.variables.iter();
        let known = variables.find(|(known, _)| known == name);
        known.map(|(_, parameter)| parameter)
    }

    fn names(&self) -> Vec<&str> {
        self.variables
            .iter()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// Returns the description of the variables for the model.
    fn variable_list(&self) -> String {
        if self.variables.is_empty() {
            return String::new();
        }

        let lines = self.variables.iter().map(|(name, parameter)| {
            let kind = &parameter.kind;
            match parameter.description.as_str() {
                "" => format!("\n- {name}: {kind}"),
                description => format!("\n- {name}: {kind}, {description}"),
            }
        });
        let lines: String = lines.collect();
        format!("\n\nThe variables:{lines}\nThere are no others.")
    }

    fn check_settings(&self) -> Result<(), Stop> {
        match &self.result {
            Some(result) if self.variable(result).is_none() && !self.variables.is_empty() => {
                let expected = NameList::or(&self.names()).to_string();
                Err(Stop::fail(format!(
                    "the result variable `{result}` is not defined; expected {expected}"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Asks for the first values of the variables.
    fn begin(&self, cx: &mut Solve) -> Result<State, Stop> {
        let stage = "scratchpad_initialization";
        let prompt = match self.variables.is_empty() {
            true => cx.prompt(&[stage])?,
            false => "Give the value that each variable begins with; null where it has none yet."
                .to_owned(),
        };

        let fields = self.variables.iter();
        let fields = fields.map(|(name, parameter)| (name.clone(), parameter.clone().optional()));
        let fields = fields.collect();
        // The schema names every variable, since small models invent others.
        let values = ParameterType::Object { fields }.schema();
        let settings = self.clone();
        let question = self
            .question(prompt, "the variables and their values", &values)
            .with_check(move |reply| {
                let state = settings.changed(&State::new(), reply)?;
                settings.check_complete(&state)
            });
        let reply = cx.ask(stage, question)?;

        let state = self.changed(&State::new(), &reply).map_err(Stop::fail)?;
        let thought = ThoughtDraft::at(stage, or(&reply.text, "The scratchpad to begin with."));
        cx.add(thought.with(STATE, state.clone()))?;
        self.keep_result(cx, &state);
        Ok(state)
    }

    /// Asks for a step, and changes the variables. Returns whether the step was the last one.
    fn step(&self, cx: &mut Solve, state: &mut State) -> Result<bool, Stop> {
        let stage = "iterative_calculation";
        let shown = Value::Object(state.clone());
        let prompt = format!("The scratchpad: {shown}\n\n{}", cx.prompt(&[stage])?);

        let changes = "the variables that the step changes, with their new values";
        let change = json!({
            "type": "object",
            "properties": {"name": {"enum": self.names()}, "value": {}},
            "required": ["name", "value"],
        });
        // A list of changes: a schema with every variable would ask for all of them in each step.
        let list = json!({"type": "array", "items": change});
        let is_last = "whether the scratchpad contains the result now";
        let (settings, before) = (self.clone(), state.clone());
        let problem = cx.problem().to_owned();
        let question = self
            .question(prompt, changes, &list)
            .narrowed(STATE, AnswerKey::optional)
            .with_field(DONE, Parameter::new(ParameterType::Boolean, is_last))
            .with_check(move |reply| {
                let after = settings.changed(&before, reply)?;
                match reply.is_true(DONE) {
                    true => settings.result(&after, &problem).map(|_| ()),
                    false => Ok(()),
                }
            });
        let reply = cx.ask(stage, question)?;

        *state = self.changed(state, &reply).map_err(Stop::fail)?;
        // With a result variable, its value is the better guess.
        if self.result.is_none() {
            cx.keep_guess(&reply.text);
        }
        cx.think(stage, or(&reply.text, "A step."))?;
        let tracked = ThoughtDraft::at("state_tracking", "The scratchpad after the step.");
        cx.add(tracked.with(STATE, state.clone()))?;
        self.keep_result(cx, state);
        // A step in other words that changes nothing isn't progress.
        cx.progress(Value::Object(state.clone()).to_string())?;
        Ok(reply.is_true(DONE))
    }

    /// Keeps the value of the result variable as the best answer until the end.
    fn keep_result(&self, cx: &mut Solve, state: &State) {
        if let Ok(Some(result)) = self.result(state, cx.problem()) {
            cx.keep_guess(&result);
        }
    }

    /// Returns the value of the result variable, if the settings have one.
    ///
    /// # Errors
    ///
    /// Returns for the model why the value isn't an answer.
    fn result(&self, state: &State, problem: &str) -> Result<Option<String>, String> {
        let Some(name) = &self.result else {
            return Ok(None);
        };
        let value = match state.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        if value.is_empty() {
            return Err(format!(
                "`{DONE}` is true, but `{name}` has no value yet; expected one"
            ));
        }

        // A choice of the variable is an answer, even if it is called `none`.
        let is_choice = |parameter: &Parameter| parameter.kind.has_choice(&value);
        let is_answer = self.variable(name).is_some_and(is_choice);
        match no_answer(&value, problem).filter(|_| !is_answer) {
            None => Ok(Some(value)),
            Some(reason) => Err(format!("`{DONE}` is true, but `{name}` {reason}")),
        }
    }

    /// Asks for values of variables. Only `offered` ones are asked for if the settings name them.
    fn question(&self, prompt: String, description: &str, offered: &Value) -> Ask {
        let values = Box::new(ParameterType::Any);
        let variables = Parameter::new(ParameterType::Map { values }, description);
        let question = Ask::new(prompt).with_field(STATE, variables);
        match self.variables.is_empty() {
            true => question,
            false => question.narrowed(STATE, |key| key.offering(offered)),
        }
    }

    /// Returns the variables with the values of a reply. Other variables keep theirs.
    ///
    /// # Errors
    ///
    /// Returns a description of the problems for the model.
    fn changed(&self, before: &State, reply: &StageReply) -> Result<State, String> {
        let given = reply.fields.get(STATE).and_then(Value::as_object);
        let mut after = before.clone();
        let mut problems = Vec::new();

        for (name, value) in given.into_iter().flatten() {
            let read = match self.variable(name) {
                Some(parameter) => typed(&format!("{STATE}.{name}"), value.clone(), parameter),
                None if self.variables.is_empty() => Ok(value.clone()),
                None => {
                    let (name, expected) = (Name(name), NameList::or(&self.names()).to_string());
                    Err(format!("`{name}` is not a variable; expected {expected}"))
                }
            };
            match read {
                Ok(value) => drop(after.insert(name.clone(), value)),
                Err(problem) => problems.push(problem),
            }
        }

        if !problems.is_empty() {
            return Err(problems.join("; "));
        }
        // Every later request and thought contains all variables.
        match serde_json::to_string(&after).map_or(0, |json| json.len()) {
            0..=MAX_BYTES => Ok(after),
            bytes => Err(format!(
                "the variables have {bytes} bytes; expected at most {MAX_BYTES}"
            )),
        }
    }

    /// Checks that every variable has a value, which may be null.
    fn check_complete(&self, state: &State) -> Result<(), String> {
        let mut variables = self.variables.iter();
        match variables.find(|(name, _)| !state.contains_key(name)) {
            None => Ok(()),
            Some((name, parameter)) => Err(format!(
                "`{STATE}.{name}` is missing, expected {} or null",
                parameter.kind
            )),
        }
    }
}
