//! ReAct. A cycle is a reply of the model with its reasoning and the next action ([`reason`]), and
//! the calls of tools with their outputs ([`act`]). The cycles end with an answer.
//!
//! There are two forms of an action. A model with native tools calls them, and answers by calling
//! none. For others, an action is two lines of text or keys of an object: the name of a tool or
//! `finish`, and the input. Both become a [`Next`].

use cogwork_llm::{Message, ToolCall};
use cogwork_tools::Tools;
use cogwork_typed::AnswerKey;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shared::{check_needed, respond, tool_list};
use crate::parameter::is_shallow;
use crate::session::ThoughtDraft;
use crate::solve::{check_answer, is_none};
use crate::{
    Answer, Ask, Called, Method, PlannedCall, Solve, StageReply, Stop, Strategy, StrategyName,
};

/// Alternates reasoning, actions and observations until the model can answer (Yao et al. 2022).
///
/// The model is called once in every cycle, for its reasoning and the next action. An action is one
/// of the [`Tools`] or `finish` with the answer. If the client supports tools, the model calls them
/// natively, and finishes with a reply that calls none. Otherwise, the tools are described in the
/// text. Unknown tools, wrong input, failures, and calls after the first 16 of a reply become
/// observations. Without tools, the model can only reason and finish.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `initial_reasoning`, `reasoning_update` | the model: its reasoning, and the next action |
/// | `action_planning`, `action_execution`, `evaluation_checkpoint` | the method: the action |
/// | `observation_reception` | the tools |
/// | `solution_formulation` | the method: the answer |
/// | `final_response` | the method: the answer |
///
/// Once the limit set by [`max_cycles`](Self::max_cycles) is reached, the model is asked
/// for the solution. If a run is stopped earlier, its best answer is the last reasoning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct React {
    /// The maximum number of cycles, which is at least 1. The default is 20.
    pub max_cycles: u32,
}

impl Default for React {
    fn default() -> Self {
        Self { max_cycles: 20 }
    }
}

/// The stage of the reasoning of the first cycle.
const FIRST: &str = "initial_reasoning";

/// The action that ends the cycles.
const FINISH: &str = "finish";

// The fields and the parameters of an action.
const ACTION: &str = "action";
const ACTION_INPUT: &str = "action_input";

const ENOUGH: &str = "Enough is known.";
const NO_MORE: &str = "No more may be done.";
const NOTHING_CALLED: &str = "Nothing is called.";

/// What the model does next.
enum Next {
    /// Calls tools. Native calls are literal, and the model expects native results.
    Act(Vec<PlannedCall>),
    /// Answers the problem.
    Finish(String),
}

impl Method for React {
    fn strategy(&self) -> Strategy {
        StrategyName::React.strategy()
    }

    fn instructions(&self, tools: &Tools, native_tools: bool) -> String {
        let opening = "You solve a problem by turns of reasoning and action. In each turn you say what you \
                       think and choose what to do next; you are then told what it brought.";
        if native_tools {
            return format!("{opening} When you know enough, call nothing and give the answer.");
        }

        let actions = tool_list(tools);
        format!(
            "{opening}\n\nThe actions:{actions}\n- {FINISH}: You know enough. Its input is the answer."
        )
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        check_tools(cx)?;
        cx.think_problem()?;

        let mut stage = FIRST;
        // What the last cycle did, to notice a model that does the same again.
        let mut before = None;
        let mut is_repeating = false;
        let mut cycles = 0;
        let answer = loop {
            let calls = match reason(cx, stage, is_repeating)? {
                Next::Act(calls) => calls,
                Next::Finish(answer) => break answer,
            };
            let observed = act(cx, &calls)?;

            cycles += 1;
            if cycles >= self.max_cycles {
                break formulate(cx)?;
            }
            let done = Some((calls, observed));
            is_repeating = done == before;
            before = done;
            stage = "reasoning_update";
        };

        cx.keep(&*answer);
        cx.think("solution_formulation", &*answer)?;
        respond(cx, answer)
    }
}

/// Checks that no tool has the name of the action that ends the cycles. In text, it couldn't be
/// distinguished from it.
fn check_tools(cx: &Solve) -> Result<(), Stop> {
    if cx.native_tools() || !cx.tools().names().any(is_finish) {
        return Ok(());
    }

    Err(Stop::fail(format!(
        "a tool is called `{FINISH}`, which is the action that ends the cycles; expected another name"
    )))
}

/// Asks for the reasoning and the next action.
fn reason(cx: &mut Solve, stage: &str, is_repeating: bool) -> Result<Next, Stop> {
    let problem = cx.problem().to_owned();
    let question = Ask::new(cx.prompt(&[stage])?).with_check(move |reply| check(reply, &problem));
    let question = if cx.native_tools() {
        question.with_tools(cx.tools().definitions())
    } else {
        // A model that repeats itself would do so until the run is stopped.
        let tools = cx.tools().names().filter(|_| !is_repeating);
        question
            .with_fields_of::<Action>()
            .choosing(ACTION, tools.chain([FINISH]))
            .narrowed(ACTION_INPUT, AnswerKey::wanted)
            // `none` may be the answer, or no answer, of a model that finishes.
            .with_literal(ACTION_INPUT)
    };

    let reply = cx.ask(stage, question)?;
    let next = read(&reply);
    match &next {
        // Until there is a solution, the best answer is the last reasoning.
        Next::Act(_) => cx.keep_guess(&reply.text),
        Next::Finish(answer) => cx.keep(answer.as_str()),
    }
    let text = match (&next, reply.text) {
        (_, text) if !text.is_empty() => text,
        (Next::Act(calls), _) => format!("Next: {}.", names(calls)),
        (Next::Finish(_), _) => ENOUGH.to_owned(),
    };
    cx.think(stage, text)?;

    // The table leads to the solution only through an evaluation.
    match &next {
        Next::Act(_) if stage == FIRST => {}
        Next::Finish(answer) if stage == FIRST => act_on_nothing(cx, answer)?,
        Next::Act(_) => evaluate(cx, "Another action is needed.")?,
        Next::Finish(_) => evaluate(cx, ENOUGH)?,
    }
    Ok(next)
}

fn evaluate(cx: &mut Solve, evaluation: &str) -> Result<(), Stop> {
    cx.think("evaluation_checkpoint", evaluation).map(drop)
}

/// Calls the tools, and adds their outputs to the conversation. Returns them as one text.
fn act(cx: &mut Solve, calls: &[PlannedCall]) -> Result<String, Stop> {
    let names = names(calls);
    plan(cx, format!("Next: {names}."), &names, input(calls))?;

    let called = cx.call_tools("action_execution", calls.to_vec())?;
    for (call, called) in calls.iter().zip(&called) {
        cx.add_message(message(called, call.literal));
    }
    // After the calls, so that a run that pauses for an approval doesn't claim that they were made.
    cx.think("action_execution", format!("Called: {names}."))?;

    let outputs: Vec<&str> = called.iter().map(|called| called.output.as_str()).collect();
    let observed = outputs.join("\n");
    observe(cx, &observed)?;
    Ok(observed)
}

/// Adds the thought with the next action. A rewording of the reasoning isn't progress, but another
/// action is.
fn plan(cx: &mut Solve, text: String, action: &str, input: Value) -> Result<(), Stop> {
    let progress = format!("{action} {input}");
    let thought = ThoughtDraft::at("action_planning", text).with(ACTION, action);
    cx.add(thought.with(ACTION_INPUT, input))?;
    cx.progress(progress)
}

fn observe(cx: &mut Solve, observed: &str) -> Result<(), Stop> {
    let thought = ThoughtDraft::at("observation_reception", observed);
    cx.add(thought.with("observation", observed))?;
    cx.progress(observed)
}

/// Returns the output of a call as a message.
fn message(called: &Called, is_native: bool) -> Message {
    let output = called.output.as_str();
    let call = ToolCall::new(called.id.as_str(), called.tool.as_str(), "");
    match (is_native, called.failed) {
        (false, _) => Message::user(format!("Observation: {output}")),
        (true, false) => Message::tool_result(&call, output),
        (true, true) => Message::tool_failure(&call, output),
    }
}

/// Adds the thoughts of a cycle without a call, for a model that finishes at once.
fn act_on_nothing(cx: &mut Solve, answer: &str) -> Result<(), Stop> {
    plan(cx, ENOUGH.to_owned(), FINISH, answer.into())?;
    cx.think("action_execution", NOTHING_CALLED)?;
    observe(cx, NOTHING_CALLED)?;
    cx.think("reasoning_update", ENOUGH)?;
    evaluate(cx, ENOUGH)
}

/// Asks for the solution once no more may be done.
fn formulate(cx: &mut Solve) -> Result<String, Stop> {
    cx.think("reasoning_update", NO_MORE)?;
    evaluate(cx, NO_MORE)?;

    let stage = "solution_formulation";
    let problem = cx.problem().to_owned();
    let question = Ask::new(cx.prompt(&[stage])?).for_answer();
    let question =
        question.with_check(move |reply| check_answer("the reply", &reply.text, &problem));
    Ok(cx.ask(stage, question)?.text)
}

/// The next action as the model writes it.
#[derive(Deserialize, JsonSchema)]
struct Action {
    /// the name of the action
    action: String,
    /// what the action is given
    #[serde(default)]
    action_input: Option<Value>,
}

/// Reads what the model does next.
fn read(reply: &StageReply) -> Next {
    if !reply.tool_calls.is_empty() {
        return Next::Act(reply.tool_calls.iter().map(native_call).collect());
    }

    // A reply of a model with native tools that calls none is the answer.
    let Ok(action) = reply.value::<Action>() else {
        return Next::Finish(reply.text.clone());
    };
    // Small models write the input into the action, as the paper does.
    let (name, written) = written(&action.action);
    let input = action.action_input.or(written.map(Value::from));
    if is_finish(name) {
        return Next::Finish(match input {
            None => reply.text.clone(),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        });
    }

    // A tool without arguments is often called with `none`.
    let input = input.filter(|input| !input.as_str().is_some_and(is_none));
    let input = input.unwrap_or_else(|| json!({}));
    Next::Act(vec![PlannedCall::new("call", name, input)])
}

/// Checks that a reply that finishes has an answer to the problem.
fn check(reply: &StageReply, problem: &str) -> Result<(), String> {
    match read(reply) {
        Next::Act(_) => Ok(()),
        Next::Finish(answer) if reply.fields.contains_key(ACTION) => {
            let expected = format!("the answer, since the action is `{FINISH}`");
            check_needed(ACTION_INPUT, &answer, problem, &expected)
        }
        Next::Finish(answer) => check_answer("the reply", &answer, problem),
    }
}

/// Returns the names of the tools that are called.
fn names(calls: &[PlannedCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    names.join(", ")
}

/// Returns the input of a single call, or the list of the inputs of several.
fn input(calls: &[PlannedCall]) -> Value {
    let input = match calls {
        [one] => one.input.clone(),
        several => several.iter().map(|call| call.input.clone()).collect(),
    };

    // The list may be nested more deeply than a parameter can be. The tools get their input
    // unchanged.
    match is_shallow(&input) {
        true => input,
        false => input.to_string().into(),
    }
}

fn native_call(call: &ToolCall) -> PlannedCall {
    // Arguments that aren't an object, or are too deeply nested to be saved, are kept as text.
    let input = serde_json::from_str(call.arguments()).ok();
    let input = input.filter(|input: &Value| input.is_object() && is_shallow(input));
    let input = input.unwrap_or_else(|| call.arguments().into());
    PlannedCall {
        literal: true,
        ..PlannedCall::new(call.id(), call.name(), input)
    }
}

/// Returns whether an action ends the cycles.
fn is_finish(action: &str) -> bool {
    action.eq_ignore_ascii_case(FINISH)
}

/// Reads an action as models write it: only its name, or `search[hobbits]` as in the paper. Returns
/// the name, and the input if there is one.
fn written(action: &str) -> (&str, Option<&str>) {
    let action = action.trim().trim_matches('`');
    let within = |open, close| action.strip_suffix(close)?.split_once(open);
    match within('[', ']').or_else(|| within('(', ')')) {
        Some((name, input)) => {
            let input = input.trim().trim_matches(['"', '\'']);
            (name.trim(), Some(input))
        }
        None => (action, None),
    }
}
