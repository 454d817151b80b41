//! The next action of the model.

use cogwork_llm::ToolCall;
use cogwork_typed::ask::{NoAnswer, no_answer};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::solve::is_none;
use crate::{ParameterType, PlannedCall, StageReply};

/// The action that ends the cycles.
pub(super) const FINISH: &str = "finish";

/// The field and the parameter with the name of the action.
pub(super) const ACTION: &str = "action";

/// The field and the parameter with the input of the action.
pub(super) const ACTION_INPUT: &str = "action_input";

/// The next action as the model writes it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct NextAction {
    /// the name of the action
    action: String,
    /// what the action is given
    #[serde(default)]
    action_input: Option<Value>,
}

/// What the model does next.
#[derive(Debug)]
pub(super) enum Planned {
    Calls {
        calls: Vec<PlannedCall>,
        /// Whether the calls are native ones, to which the model expects native results.
        native: bool,
    },
    /// It finishes with this answer.
    Finish(String),
}

impl Planned {
    pub(super) fn read(reply: &StageReply) -> Self {
        if !reply.tool_calls.is_empty() {
            return Self::native_calls(&reply.tool_calls);
        }

        // A reply of a model with native tools that calls none is the answer.
        let Ok(next) = reply.value::<NextAction>() else {
            return Self::Finish(reply.text.clone());
        };

        let action = WrittenAction::read(&next.action);
        let input = next.action_input.or(action.input.map(Value::from));

        if is_finish(action.name) {
            return Self::Finish(input.map_or_else(|| reply.text.clone(), text_of));
        }

        let has_input = |input: &Value| !input.as_str().is_some_and(is_none);
        let input = input.filter(has_input);
        let input = input.unwrap_or_else(|| Value::Object(Map::new()));
        Self::Calls {
            calls: vec![PlannedCall::new("call", action.name, input)],
            native: false,
        }
    }

    fn native_calls(calls: &[ToolCall]) -> Self {
        let planned = |call: &ToolCall| {
            // Arguments that aren't an object, or are too deeply nested to be saved, are kept as
            // text.
            let input = serde_json::from_str::<Value>(call.arguments())
                .ok()
                .filter(|input| input.is_object() && is_shallow(input))
                .unwrap_or_else(|| Value::from(call.arguments()));
            PlannedCall::new(call.id(), call.name(), input).literal()
        };

        Self::Calls {
            calls: calls.iter().map(planned).collect(),
            native: true,
        }
    }

    /// Returns the names of the tools that are called.
    pub(super) fn action(&self) -> String {
        match self {
            Self::Calls { calls, .. } => {
                let tools: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
                tools.join(", ")
            }
            Self::Finish(_) => FINISH.to_owned(),
        }
    }

    /// Returns the input of a single call, or the list of the inputs of several.
    pub(super) fn input(&self) -> Value {
        let input = match self {
            Self::Finish(answer) => return answer.as_str().into(),
            Self::Calls { calls, .. } => match calls.as_slice() {
                [one] => one.input.clone(),
                several => several.iter().map(|call| call.input.clone()).collect(),
            },
        };

        // The list may be nested more deeply than a parameter can be. The tools get their input
        // unchanged.
        if is_shallow(&input) {
            input
        } else {
            input.to_string().into()
        }
    }

    /// Returns what is thought of what is known now.
    pub(super) fn evaluation(&self) -> &'static str {
        match self {
            Self::Calls { .. } => "Another action is needed.",
            Self::Finish(_) => super::ENOUGH,
        }
    }

    /// Returns the answer. It is empty unless the model finishes.
    pub(super) fn answer(&self) -> &str {
        match self {
            Self::Calls { .. } => "",
            Self::Finish(answer) => answer,
        }
    }

    /// Checks that a reply that finishes has an answer to the problem.
    pub(super) fn finishes_with_answer(reply: &StageReply, problem: &str) -> Result<(), String> {
        let Self::Finish(answer) = Self::read(reply) else {
            return Ok(());
        };

        let is_native = !reply.fields.contains_key(ACTION);
        match no_answer(&answer, problem) {
            None => Ok(()),
            Some(reason) if is_native => Err(format!("the reply {reason}")),
            Some(NoAnswer::Empty) => Err(format!(
                "`{ACTION_INPUT}` is missing, expected the answer, since the action is `{FINISH}`"
            )),
            Some(reason) => Err(format!("`{ACTION_INPUT}` {reason}")),
        }
    }
}

/// Returns whether an action ends the cycles.
pub(super) fn is_finish(action: &str) -> bool {
    action.eq_ignore_ascii_case(FINISH)
}

fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Returns whether a parameter can be nested this deeply.
fn is_shallow(input: &Value) -> bool {
    let faults = ParameterType::Any.faults(ACTION_INPUT, input);
    faults.is_empty()
}

/// An action as models write it: only its name, or `search[hobbits]` as in the paper.
struct WrittenAction<'a> {
    name: &'a str,
    input: Option<&'a str>,
}

impl<'a> WrittenAction<'a> {
    fn read(action: &'a str) -> Self {
        let action = action.trim().trim_matches('`');
        let in_brackets = action
            .strip_suffix(']')
            .and_then(|action| action.split_once('['));
        let in_parentheses = || {
            action
                .strip_suffix(')')
                .and_then(|action| action.split_once('('))
        };

        match in_brackets.or_else(in_parentheses) {
            Some((name, input)) => {
                let input = input.trim().trim_matches(['"', '\'']);
                Self {
                    name: name.trim(),
                    input: Some(input),
                }
            }
            None => Self {
                name: action,
                input: None,
            },
        }
    }
}
