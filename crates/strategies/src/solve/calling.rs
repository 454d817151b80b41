//! Calls tools, concurrently unless one needs the output of another.

use std::collections::BTreeMap;

use cogwork_llm::ToolCall;
use cogwork_tools::Tools;
use cogwork_typed::ask::{Meter, report_tool_call};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Number, Value};
use tokio::time::timeout_at;

use super::Called;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlannedCall {
    /// The id by which other calls refer to the output, such as `#E1`.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The input. If one of its texts contains the [id](Self::id) of an earlier call, the id is
    /// replaced with the output of that call.
    pub input: Value,
    /// Whether the input is passed to the tool unchanged, even if it contains ids of other calls.
    pub literal: bool,
}

impl PlannedCall {
    /// Creates a call.
    pub fn new(id: impl Into<String>, tool: impl Into<String>, input: impl Into<Value>) -> Self {
        Self {
            id: id.into(),
            tool: tool.into(),
            input: input.into(),
            literal: false,
        }
    }

    /// Passes the input to the tool unchanged.
    ///
    /// Ids of other calls aren't replaced, a text is used as the arguments exactly as the model
    /// wrote them, and [`fitted`](Self::fitted) has no effect.
    #[must_use]
    pub(crate) fn literal(self) -> Self {
        Self {
            literal: true,
            ..self
        }
    }

    /// Returns the call with its input adapted to the schema of the tool: if the input isn't an
    /// object and the schema has only one property, the input becomes the value of that property.
    #[must_use]
    pub fn fitted(self, tools: &Tools) -> Self {
        let definition = tools.definitions().find(|tool| tool.name() == self.tool);
        let schema =
            definition.and_then(|tool| serde_json::from_str::<Value>(tool.input_schema()).ok());
        let properties = schema
            .as_ref()
            .and_then(|schema| schema.get("properties")?.as_object());
        let mut properties = properties.into_iter().flatten();

        match (
            self.literal || self.input.is_object(),
            properties.next(),
            properties.next(),
        ) {
            (false, Some((only, schema)), None) => {
                let input = numeric(self.input, schema);
                Self {
                    input: Map::from_iter([(only.clone(), input)]).into(),
                    ..self
                }
            }
            _ => self,
        }
    }
}

/// Converts a number that was kept as a text, such as `1.10`, if the schema expects a number.
fn numeric(input: Value, schema: &Value) -> Value {
    let kind = schema.get("type").and_then(Value::as_str);
    let number = input
        .as_str()
        .filter(|_| matches!(kind, Some("number" | "integer")));
    match number.and_then(|text| serde_json::from_str::<Number>(text.trim()).ok()) {
        Some(number) => number.into(),
        None => input,
    }
}

/// Makes the calls, each as soon as the earlier calls that it refers to have finished, and returns
/// their results in order. Calls for which there wasn't enough time have no result.
pub(super) async fn call_all(
    stage: &str,
    calls: &[PlannedCall],
    tools: &Tools,
    at_once: usize,
    meter: &Meter,
) -> Vec<Option<Called>> {
    let mut waiting: Vec<Waiting<'_>> = (0..calls.len())
        .filter_map(|place| Waiting::new(calls, place))
        .collect();
    let mut called: Vec<Option<Called>> = calls.iter().map(|_| None).collect();
    let mut running = FuturesUnordered::new();

    loop {
        while running.len() < at_once.max(1) {
            let is_ready = |waiting: &Waiting<'_>| waiting.is_ready(&called);
            let Some(next) = waiting.iter().position(is_ready) else {
                break;
            };

            let Waiting { place, call, needs } = waiting.remove(next);
            let input = input_of(call, &needs, &called);
            meter.count_tool_call();
            running.push(async move { (place, made(stage, call, input, tools).await) });
        }

        let Ok(Some((place, outcome))) = timeout_at(meter.deadline(), running.next()).await else {
            return called;
        };

        if let Some(slot) = called.get_mut(place) {
            *slot = Some(outcome);
        }
    }
}

/// A call that hasn't been made yet.
struct Waiting<'c> {
    /// The index of the call.
    place: usize,
    call: &'c PlannedCall,
    /// The indices of the earlier calls that the input refers to.
    needs: Vec<usize>,
}

impl<'c> Waiting<'c> {
    fn new(calls: &'c [PlannedCall], place: usize) -> Option<Self> {
        let call = calls.get(place)?;
        let earlier = if call.literal { 0 } else { place };
        let needs = (0..)
            .zip(calls.iter().take(earlier))
            .filter(|(_, other)| names(&call.input, &other.id))
            .map(|(index, _)| index)
            .collect();

        Some(Self { place, call, needs })
    }

    fn is_ready(&self, called: &[Option<Called>]) -> bool {
        let is_made = |other: &usize| called.get(*other).is_some_and(Option::is_some);
        self.needs.iter().all(is_made)
    }
}

/// Returns the input of a call, with the outputs of the calls that it refers to.
fn input_of(call: &PlannedCall, needs: &[usize], called: &[Option<Called>]) -> Value {
    let needed = needs
        .iter()
        .filter_map(|other| called.get(*other)?.as_ref());
    let outputs: BTreeMap<&str, &str> = needed
        .map(|other| (other.id.as_str(), other.output.as_str()))
        .collect();

    let mut room = MAX_FILLED;
    filled(&call.input, &outputs, &mut room)
}

async fn made(stage: &str, call: &PlannedCall, input: Value, tools: &Tools) -> Called {
    let outcome = async {
        match &input {
            Value::String(arguments) if call.literal => {
                let call = ToolCall::new(call.id.as_str(), call.tool.as_str(), arguments.as_str());
                tools.call(&call).await
            }
            input => tools.call_with(&call.tool, input.clone()).await,
        }
    };
    let shown = || match &input {
        Value::String(arguments) if call.literal => arguments.clone(),
        input => input.to_string(),
    };
    let outcome = report_tool_call(&call.id, &call.tool, shown, outcome).await;

    let failed = outcome.is_err();
    let output = outcome.unwrap_or_else(|error| error.to_string());
    Called {
        stage: stage.to_owned(),
        id: call.id.clone(),
        tool: call.tool.clone(),
        input,
        output,
        failed,
    }
}

/// Returns whether a text in the input contains the id.
fn names(input: &Value, id: &str) -> bool {
    match input {
        Value::String(text) => places(text, id).next().is_some(),
        Value::Array(items) => items.iter().any(|item| names(item, id)),
        Value::Object(fields) => fields.values().any(|value| names(value, id)),
        _ => false,
    }
}

/// Returns the offsets of an id in a text. `#E12` doesn't contain `#E1`.
fn places<'t>(text: &'t str, id: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let found = (!id.is_empty())
        .then(|| text.match_indices(id))
        .into_iter()
        .flatten();
    found.map(|(at, _)| at).filter(move |at| {
        let after = text
            .get(at + id.len()..)
            .and_then(|rest| rest.chars().next());
        !after.is_some_and(is_part)
    })
}

/// The maximum number of bytes that outputs of other calls add to one input. Without a limit, a
/// sequence of calls that each refer to the previous one twice would double the input with every
/// call.
const MAX_FILLED: usize = 256 * 1024;

/// Replaces ids with outputs as long as there is room for them.
fn filled(input: &Value, outcomes: &BTreeMap<&str, &str>, room: &mut usize) -> Value {
    match input {
        Value::String(text) => Value::String(filled_text(text, outcomes, room)),
        Value::Array(items) => items
            .iter()
            .map(|item| filled(item, outcomes, room))
            .collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), filled(value, outcomes, room)))
            .collect(),
        other => other.clone(),
    }
}

/// Replaces ids in a single pass, so that ids in an output aren't replaced in turn.
fn filled_text(text: &str, outcomes: &BTreeMap<&str, &str>, room: &mut usize) -> String {
    let mut found: Vec<(usize, &str, &str)> = outcomes
        .iter()
        .flat_map(|(id, outcome)| places(text, id).map(move |at| (at, *id, *outcome)))
        .collect();
    found.sort_unstable();
    let mut whole = String::new();
    let mut end = 0;

    for (at, id, outcome) in found {
        if at < end || outcome.len() > *room {
            continue;
        }

        *room -= outcome.len();
        whole.push_str(text.get(end..at).unwrap_or_default());
        whole.push_str(outcome);
        end = at + id.len();
    }

    whole.push_str(text.get(end..).unwrap_or_default());
    whole
}
