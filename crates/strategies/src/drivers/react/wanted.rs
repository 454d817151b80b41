//! What the model wants done next.

use cogwork_llm::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ParameterType, PlannedCall, Solving, StageReply};

/// The action that ends the cycles.
pub(super) const FINISH: &str = "finish";

/// The field and the parameter with the name of the action.
pub(super) const ACTION: &str = "action";

/// The field and the parameter with the input of the action.
pub(super) const ACTION_INPUT: &str = "action_input";

/// The note with what the model wants done next.
const WANTED: &str = "wanted";

/// What the model wants done next.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) calls: Vec<PlannedCall>,
    /// The answer, if the model knows enough.
    pub(super) finish: Option<String>,
    /// Whether the calls use the client's native tools. The model then expects their
    /// results in the same form.
    pub(super) native: bool,
}

impl Wanted {
    /// Returns what a reply asks for.
    pub(super) fn read(reply: &StageReply) -> Self {
        if !reply.tool_calls.is_empty() {
            return Self::native_calls(&reply.tool_calls);
        }

        // A model with native tools that calls none has given the answer.
        if !reply.fields.contains_key(ACTION) {
            return Self::finish(reply.text.clone());
        }

        let action = WrittenAction::read(reply.field(ACTION));
        let input = reply.fields.get(ACTION_INPUT).cloned();
        let input = input.or(action.input.map(Value::from));

        if is_finish(action.name) {
            return Self::finish(input.map_or_else(|| reply.text.clone(), text_of));
        }

        let input = input.unwrap_or_else(|| Value::Object(Map::new()));
        let call = PlannedCall::new("call", action.name, input);
        Self {
            calls: vec![call],
            ..Self::default()
        }
    }

    fn finish(answer: String) -> Self {
        Self {
            finish: Some(answer),
            ..Self::default()
        }
    }

    fn native_calls(calls: &[ToolCall]) -> Self {
        let planned = |call: &ToolCall| {
            // Arguments that aren't an object, or are nested too deeply to be saved within a
            // state, stay the text that the model wrote.
            let input = serde_json::from_str::<Value>(call.arguments())
                .ok()
                .filter(|input| input.is_object() && is_shallow(input))
                .unwrap_or_else(|| Value::from(call.arguments()));
            PlannedCall::new(call.id(), call.name(), input).literal()
        };

        Self {
            calls: calls.iter().map(planned).collect(),
            finish: None,
            native: true,
        }
    }

    /// Returns what was kept last.
    pub(super) fn of(solving: &Solving) -> Self {
        let note = solving.note(WANTED).cloned();
        note.and_then(|note| serde_json::from_value(note).ok())
            .unwrap_or_default()
    }

    /// Keeps it until it is done.
    pub(super) fn keep(self, solving: &mut Solving) {
        solving.set_note(WANTED, serde_json::to_value(self).unwrap_or_default());
    }

    /// Returns the names of the tools that are called.
    pub(super) fn action(&self) -> String {
        let tools: Vec<&str> = self.calls.iter().map(|call| call.tool.as_str()).collect();
        tools.join(", ")
    }

    /// Returns the input of a single call, or the list of the inputs of several.
    pub(super) fn input(&self) -> Value {
        let input = match self.calls.as_slice() {
            [one] => one.input.clone(),
            several => several.iter().map(|call| call.input.clone()).collect(),
        };

        // The list may be nested more deeply than a parameter may be. The tools get their
        // inputs as they are.
        if is_shallow(&input) {
            input
        } else {
            input.to_string().into()
        }
    }
}

/// Checks that a reply that finishes has an answer.
pub(super) fn finishes_with_answer(reply: &StageReply) -> Result<(), String> {
    let answer = Wanted::read(reply).finish;
    if answer.is_some_and(|answer| answer.trim().is_empty()) {
        return Err(format!(
            "`{ACTION_INPUT}` is missing, expected the answer, since the action is `{FINISH}`"
        ));
    }

    Ok(())
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

/// Returns whether a value is nested no more deeply than a parameter may be.
fn is_shallow(input: &Value) -> bool {
    let faults = ParameterType::Any.faults(ACTION_INPUT, input);
    faults.is_empty()
}

/// An action as a model writes it: its name alone, or `search[hobbits]` as in the paper.
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
