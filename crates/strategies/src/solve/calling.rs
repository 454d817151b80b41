//! Calls tools, concurrently unless one needs the output of another.

use std::collections::BTreeMap;
use std::time::Duration;

use cogwork_flow::engine::CannotWait;
use cogwork_llm::ToolCall;
use cogwork_tools::Tools;
use cogwork_typed::ask::{Meter, ToolCalls, ToolUse, call_label};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Number, Value};
use tokio::time::timeout_at;

use super::Called;
use super::solver::Shared;

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

    /// Returns the call with its input adapted to the schema of the tool: if the input isn't an
    /// object and the schema has only one property, the input becomes the value of that property.
    #[must_use]
    pub fn fitted(mut self, tools: &Tools) -> Self {
        let definition = tools.definitions().find(|tool| tool.name() == self.tool);
        let schema = definition.and_then(|tool| serde_json::from_str(tool.input_schema()).ok());
        let schema: Value = schema.unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        let only = properties.filter(|properties| properties.len() == 1);
        let only = only.and_then(|properties| properties.iter().next());

        if let Some((only, schema)) = only
            && !self.literal
            && !self.input.is_object()
        {
            let input = numeric(self.input, schema);
            self.input = Map::from_iter([(only.clone(), input)]).into();
        }
        self
    }

    /// Returns what distinguishes the call from others.
    pub(super) fn label(&self, stage: &str) -> String {
        let input = (&self.tool, self.input.to_string());
        call_label(&format!("{stage} {}", self.id), &input)
    }

    async fn make(
        &self,
        input: &Value,
        calls: &ToolCalls<'_>,
        number: &str,
        meter: &Meter,
    ) -> Result<(ToolUse, Duration), CannotWait> {
        let call = |arguments: &str| ToolCall::new(self.id.as_str(), self.tool.as_str(), arguments);

        match input.as_str().filter(|_| self.literal) {
            Some(arguments) => calls.call(&call(arguments), number, meter).await,
            None => {
                let call = call(&input.to_string());
                calls.call_with(&call, input, number, meter).await
            }
        }
    }

    fn called(&self, stage: &str, input: Value, used: ToolUse) -> Called {
        Called {
            stage: stage.to_owned(),
            id: self.id.clone(),
            label: self.label(stage),
            tool: self.tool.clone(),
            input,
            output: used.result,
            failed: used.failed,
        }
    }

    /// Returns whether the call needs the output of an earlier one.
    fn needs(&self, earlier: &Self) -> bool {
        let mut is_named = false;
        with_texts(&self.input, &mut |text| {
            let mut places = text.match_indices(&earlier.id);
            let rest = |(at, _)| text.get(at..).unwrap_or_default();
            is_named |= places.any(|place| begins_with(rest(place), &earlier.id));
            String::new()
        });
        is_named && !self.literal
    }

    /// Returns the input with the outputs of earlier calls, as long as there is room for them.
    fn input_after<'c>(&self, earlier: impl Iterator<Item = &'c Called>) -> Value {
        if self.literal {
            return self.input.clone();
        }

        let outputs = earlier.map(|call| (call.id.as_str(), call.output.as_str()));
        let outputs: Vec<_> = outputs.collect();
        let mut room = MAX_FILLED;
        with_texts(&self.input, &mut |text| filled(text, &outputs, &mut room))
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

/// Makes the calls, each after those whose outputs it needs, and returns their results in order. If
/// there wasn't enough time for all, some are missing.
pub(super) async fn call_all(
    shared: &Shared,
    stage: &str,
    calls: &[PlannedCall],
    tool_calls: &ToolCalls<'_>,
    meter: &Meter,
) -> Result<Vec<Called>, CannotWait> {
    let levels = levels(calls);
    let last = levels.iter().copied().max().unwrap_or(0);
    let mut called: BTreeMap<usize, Called> = BTreeMap::new();

    for level in 0..=last {
        let calls = calls.iter().zip(&levels).enumerate();
        let ready = calls.filter(|(_, (_, of_call))| **of_call == level);
        let made = ready.map(|(place, (call, _))| {
            let input = call.input_after(called.range(..place).map(|(_, called)| called));
            async move {
                let number = (place + 1).to_string();
                let (used, replayed) = call.make(&input, tool_calls, &number, meter).await?;
                Ok((place, call.called(stage, input, used), replayed))
            }
        });
        let made: Vec<_> = made.collect();
        let mut running = stream::iter(made).buffer_unordered(shared.at_once);

        let mut longest = Duration::ZERO;
        loop {
            match timeout_at(meter.deadline(), running.try_next()).await {
                Ok(Ok(Some((place, outcome, replayed)))) => {
                    called.insert(place, outcome);
                    longest = longest.max(replayed);
                }
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Err(error),
                Err(_) => return Ok(called.into_values().collect()),
            }
        }
        meter.add_time(longest);
    }

    Ok(called.into_values().collect())
}

/// Returns for each call how many others have to be made one after the other before it.
fn levels(calls: &[PlannedCall]) -> Vec<usize> {
    let mut levels: Vec<usize> = Vec::new();
    for call in calls {
        let earlier = calls.iter().zip(&levels);
        let needed = earlier.filter(|(earlier, _)| call.needs(earlier));
        let highest = needed.map(|(_, level)| level + 1).max();
        levels.push(highest.unwrap_or(0));
    }
    levels
}

/// Returns a value with other texts.
fn with_texts(value: &Value, change: &mut dyn FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => {
            let items = items.iter().map(|item| with_texts(item, change));
            items.collect()
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), with_texts(value, change)));
            fields.collect()
        }
        other => other.clone(),
    }
}

/// Returns whether a text begins with an id. `#E12` doesn't begin with `#E1`.
fn begins_with(text: &str, id: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let after = text.strip_prefix(id).filter(|_| !id.is_empty());
    after.is_some_and(|after| !after.starts_with(is_part))
}

/// The maximum number of bytes that outputs of other calls add to one input. Without a limit, a
/// sequence of calls that each refer to the previous one twice would double the input with every
/// call.
const MAX_FILLED: usize = 256 * 1024;

/// Replaces ids in a single pass, so that ids in an output aren't replaced in turn.
fn filled(text: &str, outputs: &[(&str, &str)], room: &mut usize) -> String {
    let mut whole = String::new();
    let mut rest = text;

    while let Some(first) = rest.chars().next() {
        let mut outputs = outputs.iter();
        let found = outputs.find(|(id, output)| begins_with(rest, id) && output.len() <= *room);
        let length = match found {
            Some((id, output)) => {
                *room -= output.len();
                whole.push_str(output);
                id.len()
            }
            None => {
                whole.push(first);
                first.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }

    whole
}
