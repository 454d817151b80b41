use cogwork_llm::{Message, ToolCall};
use cogwork_tools::Tools;
use cogwork_typed::AnswerKey;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shared::{check_needed, respond, tool_list};
use crate::session::ThoughtDraft;
use crate::solve::{check_text, is_none};
use crate::table::ParameterType;
use crate::{
    Answer, Ask, Called, Method, PlannedCall, Solve, StageReply, Stop, Strategy, StrategyName,
};

/// Alternates reasoning, actions and observations until the model can answer (Yao et al. 2022).
///
/// The model is called once in every cycle, for its reasoning and the next action. An action is one
/// of the [`Tools`] or `finish` with the answer. If the client supports tools, the model calls them
/// natively, and finishes with a reply that calls none. Otherwise, the tools are described in the
/// text. Unknown tools, wrong input and failures become observations. Without tools, the model can
/// only reason and finish.
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
/// for the solution. If a run is stopped earlier, its best answer is the conclusion from the last
/// observation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct React {
    /// The maximum number of cycles, which is at least 1. The default is 20.
    pub max_cycles: u32,
}

impl Default for React {
    fn default() -> Self {
        Self { max_cycles: 20 }
    }
}

/// The action that ends the cycles.
const FINISH: &str = "finish";

// The fields and the parameters of an action.
const ACTION: &str = "action";
const ACTION_INPUT: &str = "action_input";

const ENOUGH: &str = "Enough is known.";
const NO_MORE: &str = "No more may be done.";
const NOTHING_CALLED: &str = "Nothing is called.";

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

        let mut next = reason(cx, "initial_reasoning", false)?;
        if next.calls.is_empty() {
            skip_to_the_evaluation(cx, &next)?;
        }

        let mut before = None;
        for cycle in 1.. {
            if next.calls.is_empty() {
                break;
            }
            let observed = act(cx, &next)?;

            let done = Some((next.action(), next.input(), observed));
            let is_repeating = done == before;
            before = done;

            if cycle >= self.max_cycles {
                cx.think("reasoning_update", NO_MORE)?;
                cx.think("evaluation_checkpoint", NO_MORE)?;
                next = formulate(cx)?;
                break;
            }

            next = reason(cx, "reasoning_update", is_repeating)?;
            let evaluation = match next.calls.is_empty() {
                true => ENOUGH,
                false => "Another action is needed.",
            };
            cx.think("evaluation_checkpoint", evaluation)?;
        }

        cx.keep(&*next.answer);
        cx.think("solution_formulation", &*next.answer)?;
        respond(cx, next.answer)
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
    let question =
        Ask::new(cx.prompt(&[stage])?).with_check(move |reply| Next::check(reply, &problem));
    let question = if cx.native_tools() {
        question.with_tools(cx.tools().definitions())
    } else {
        // A model that repeats itself would do so until the run is stopped.
        let tools = cx.tools().names().filter(|_| !is_repeating);
        question
            .with_fields_of::<NextAction>()
            .choosing(ACTION, tools.chain([FINISH]))
            .narrowed(ACTION_INPUT, AnswerKey::wanted)
            // `none` may be the answer, or no answer, of a model that finishes.
            .with_literal(ACTION_INPUT)
    };

    let reply: StageReply = cx.ask(stage, question)?;
    let next = Next::read(&reply);
    let text = match reply.text {
        text if text.is_empty() => next.summary(),
        text => text,
    };

    // Until there is a solution, the best answer is the conclusion from the last observation.
    if stage == "reasoning_update" {
        cx.keep_guess(&text);
    }
    cx.think(stage, text)?;
    Ok(next)
}

/// Calls the tools, and adds their outputs to the conversation. Returns them as one text.
fn act(cx: &mut Solve, next: &Next) -> Result<String, Stop> {
    plan(cx, next)?;
    let calls = next
        .calls
        .iter()
        .map(|call| call.clone().fitted(cx.tools()));
    let called = cx.call_tools("action_execution", calls.collect())?;
    for (call, called) in next.calls.iter().zip(&called) {
        cx.add_message(message(called, call.literal));
    }

    let tools: Vec<&str> = called.iter().map(|called| called.tool.as_str()).collect();
    cx.think("action_execution", format!("Called: {}.", tools.join(", ")))?;
    let outputs: Vec<&str> = called.iter().map(|called| called.output.as_str()).collect();
    let observed = outputs.join("\n");
    observe(cx, &observed)?;
    Ok(observed)
}

/// Adds the thought with the next action. A rewording of the reasoning isn't progress, but another
/// action is.
fn plan(cx: &mut Solve, next: &Next) -> Result<(), Stop> {
    let (action, input) = (next.action(), next.input());
    let thought = ThoughtDraft::at("action_planning", next.summary());
    cx.add(
        thought
            .with(ACTION, &*action)
            .with(ACTION_INPUT, input.clone()),
    )?;
    cx.progress(format!("{action} {input}"))
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

/// Adds the thoughts of a cycle without a call. The table has no shorter way to the solution.
fn skip_to_the_evaluation(cx: &mut Solve, next: &Next) -> Result<(), Stop> {
    plan(cx, next)?;
    cx.think("action_execution", NOTHING_CALLED)?;
    observe(cx, NOTHING_CALLED)?;
    cx.think("reasoning_update", ENOUGH)?;
    cx.think("evaluation_checkpoint", ENOUGH)?;
    Ok(())
}

/// Asks for the solution once no more may be done.
fn formulate(cx: &mut Solve) -> Result<Next, Stop> {
    let stage = "solution_formulation";
    let problem = cx.problem().to_owned();
    let question = Ask::new(cx.prompt(&[stage])?);
    let question = question.with_check(move |reply| check_text(&reply.text, &problem));
    Ok(Next::finish(cx.ask(stage, question)?.text))
}

/// The next action as the model writes it.
#[derive(Deserialize, JsonSchema)]
struct NextAction {
    /// the name of the action
    action: String,
    /// what the action is given
    #[serde(default)]
    action_input: Option<Value>,
}

/// What the model does next: calls, or else the answer. Calls are literal if they are native ones,
/// to which the model expects native results.
#[derive(Default)]
struct Next {
    calls: Vec<PlannedCall>,
    answer: String,
}

impl Next {
    fn read(reply: &StageReply) -> Self {
        if !reply.tool_calls.is_empty() {
            return Self {
                calls: reply.tool_calls.iter().map(native_call).collect(),
                ..Self::default()
            };
        }

        // A reply of a model with native tools that calls none is the answer.
        let Ok(next) = reply.value::<NextAction>() else {
            return Self::finish(reply.text.clone());
        };
        let (name, written) = written(&next.action);
        let input = next.action_input.or(written.map(Value::from));
        if is_finish(name) {
            return Self::finish(match input {
                None => reply.text.clone(),
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
            });
        }

        let input = input.filter(|input| !input.as_str().is_some_and(is_none));
        let input = input.unwrap_or_else(|| json!({}));
        Self {
            calls: vec![PlannedCall::new("call", name, input)],
            ..Self::default()
        }
    }

    fn finish(answer: String) -> Self {
        Self {
            answer,
            ..Self::default()
        }
    }

    /// Checks that a reply that finishes has an answer to the problem.
    fn check(reply: &StageReply, problem: &str) -> Result<(), String> {
        let next = Self::read(reply);
        if !next.calls.is_empty() {
            return Ok(());
        }
        if !reply.fields.contains_key(ACTION) {
            return check_text(&next.answer, problem);
        }

        let expected = format!("the answer, since the action is `{FINISH}`");
        check_needed(ACTION_INPUT, &next.answer, problem, &expected)
    }

    /// Returns the names of the tools that are called.
    fn action(&self) -> String {
        let tools: Vec<&str> = self.calls.iter().map(|call| call.tool.as_str()).collect();
        match tools.is_empty() {
            true => FINISH.to_owned(),
            false => tools.join(", "),
        }
    }

    /// Returns the answer, the input of a single call, or the list of the inputs of several.
    fn input(&self) -> Value {
        let input = match self.calls.as_slice() {
            [] => return self.answer.as_str().into(),
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

    fn summary(&self) -> String {
        match self.calls.is_empty() {
            true => ENOUGH.to_owned(),
            false => format!("Next: {}.", self.action()),
        }
    }
}

fn native_call(call: &ToolCall) -> PlannedCall {
    // Arguments that aren't an object, or are too deeply nested to be saved, are kept as text.
    let input = serde_json::from_str(call.arguments()).ok();
    let input = input.filter(|input: &Value| input.is_object() && is_shallow(input));
    let input = input.unwrap_or_else(|| call.arguments().into());
    PlannedCall::new(call.id(), call.name(), input).literal()
}

/// Returns whether an action ends the cycles.
fn is_finish(action: &str) -> bool {
    action.eq_ignore_ascii_case(FINISH)
}

/// Returns whether a parameter can be nested this deeply.
fn is_shallow(input: &Value) -> bool {
    ParameterType::Any.faults(ACTION_INPUT, input).is_empty()
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
