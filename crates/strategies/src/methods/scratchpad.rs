use cogwork_tools::Tools;
use cogwork_typed::AnswerKey;
use serde_json::{Map, Value, json};

use super::shared::{ask_for_answer, or, respond};
use crate::session::ThoughtDraft;
use crate::table::Parameter;
use crate::{Answer, Ask, Method, Solve, StageReply, Stop, Strategy, StrategyName};

/// Calculates with named variables until they contain the result (Nye et al. 2021).
///
/// The model is called once for the variables and their first values, once for each step, and once
/// for the result. A step only needs to set the variables that change; each thought of
/// `state_tracking` contains all of them. If a run is stopped, its best answer is the last step.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `scratchpad_initialization` | the model: the variables and their first values |
/// | `iterative_calculation` | the model: a step, its changes, and whether it is the last one |
/// | `state_tracking` | the method: all variables after the step |
/// | `continuation_decision` | the method |
/// | `result_extraction` | the model: the result |
/// | `final_response` | the method: the result |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Solver, StrategyName};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     r#"state_variables: {"total": 0}"#,
///     "thought: 17 * 3 is 51.\nstate_variables: total = 51\ndone: yes",
///     "answer: 51",
/// ]);
/// let solved = Solver::new(client, StrategyName::Scratchpad).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
///
/// let tracked = solved.session().thoughts().iter();
/// let tracked = tracked.filter(|thought| thought.stage == "state_tracking").last();
/// assert_eq!(tracked.ok_or("no step")?.parameters["state_variables"]["total"], 51);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scratchpad {
    /// The maximum number of steps, which is at least 1. Once it is reached, the model is asked for
    /// the result. The default is 30.
    pub max_steps: usize,
}

impl Default for Scratchpad {
    fn default() -> Self {
        Self { max_steps: 30 }
    }
}

// The fields of a step: the variables that it changes, and whether it is the last one.
const STATE: &str = "state_variables";
const DONE: &str = "done";

/// The values of the variables.
type State = Map<String, Value>;

impl Method for Scratchpad {
    fn strategy(&self) -> Strategy {
        StrategyName::Scratchpad.strategy()
    }

    fn instructions(&self, _tools: &Tools, _native_tools: bool) -> String {
        "You solve a problem with a scratchpad of named variables: you do one step of the \
         calculation at a time and say which variables it changes; the program keeps them."
            .to_owned()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;

        let mut state = begin(cx)?;
        for step in 1.. {
            let is_done = take_step(cx, &mut state)?;
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
        let question = Ask::of(cx.prompt(&[stage])?);
        let answer = ask_for_answer(cx, stage, question)?;
        respond(cx, answer)
    }
}

/// Asks for the first values of the variables.
fn begin(cx: &mut Solve) -> Result<State, Stop> {
    let stage = "scratchpad_initialization";
    let question = question(cx.prompt(&[stage])?, "the variables and their values");
    let reply = cx.ask(stage, question)?;

    let state = changed(&State::new(), &reply);
    let thought = ThoughtDraft::at(stage, or(&reply.text, "The scratchpad to begin with."));
    cx.add(thought.with(STATE, state.clone()))?;
    Ok(state)
}

/// Asks for a step, and changes the variables. Returns whether the step was the last one.
fn take_step(cx: &mut Solve, state: &mut State) -> Result<bool, Stop> {
    let stage = "iterative_calculation";
    let shown = Value::Object(state.clone());
    let prompt = format!("The scratchpad: {shown}\n\n{}", cx.prompt(&[stage])?);

    let changes = "the variables that the step changes, with their new values";
    let is_last = "whether the scratchpad contains the result now";
    let question = question(prompt, changes)
        .narrowed(STATE, AnswerKey::optional)
        .with_field(DONE, Parameter::new(json!({"type": "boolean"}), is_last));
    let reply = cx.ask(stage, question)?;

    *state = changed(state, &reply);
    cx.keep_guess(&reply.text);
    cx.think(stage, or(&reply.text, "A step."))?;
    let tracked = ThoughtDraft::at("state_tracking", "The scratchpad after the step.");
    cx.add(tracked.with(STATE, state.clone()))?;
    // A step in other words that changes nothing isn't progress.
    cx.progress(Value::Object(state.clone()).to_string())?;
    Ok(reply.is_true(DONE))
}

/// Asks for values of variables.
fn question(prompt: String, description: &str) -> Ask {
    let variables = json!({"type": "object", "additionalProperties": {}});
    Ask::new(prompt).with_field(STATE, Parameter::new(variables, description))
}

/// Returns the variables with the values of a reply. Other variables keep theirs.
fn changed(before: &State, reply: &StageReply) -> State {
    let mut after = before.clone();
    if let Some(Value::Object(given)) = reply.fields.get(STATE) {
        after.extend(given.clone());
    }
    after
}
