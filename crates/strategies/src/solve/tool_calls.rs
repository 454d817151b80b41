//! Calls tools.

use std::time::Duration;

use cogwork_flow::engine::CannotWait;
use cogwork_llm::{FinishReason, ToolCall};
use cogwork_tools::Tools;
use cogwork_typed::ask::{Meter, ToolCalls, call_label, not_admitted};
use cogwork_typed::{AnswerKey, AnswerReader};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::context::Batch;
use super::{Called, Solver};

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlannedCall {
    /// The id, such as `#E1`.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The input.
    pub input: Value,
    /// Whether the input is what a model wrote, which isn't adapted to the tool. If it is a text, the
    /// text is the arguments in JSON. Of the calls of a batch, the first 16 of these are made.
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
            // A number may have been kept as a text, such as `1.10`.
            let reader = AnswerReader::of_keys([AnswerKey::new(only, "", schema)]);
            let input = json!({only: self.input});
            self.input = reader.fit_value(&input).unwrap_or(input);
        }
        self
    }

    /// Returns what distinguishes the call from others.
    pub(super) fn label(&self, stage: &str) -> String {
        let input = (&self.tool, self.input.to_string());
        call_label(&format!("{stage} {}", self.id), &input)
    }

    /// Makes the call, unless there isn't enough time for it. Returns how long it took, too, if its
    /// recorded result was used.
    async fn make(
        &self,
        stage: &str,
        calls: &ToolCalls<'_>,
        index: usize,
        meter: &Meter,
        deadline: Instant,
    ) -> Result<(Called, Duration), CannotWait> {
        let (arguments, input) = match self.input.as_str() {
            Some(arguments) if self.literal => (arguments.to_owned(), None),
            _ => (self.input.to_string(), Some(self.input.clone())),
        };
        let call = ToolCall::new(self.id.as_str(), self.tool.as_str(), arguments);

        let called = |output, failed| Called {
            stage: stage.to_owned(),
            id: self.id.clone(),
            label: self.label(stage),
            tool: self.tool.clone(),
            input: self.input.clone(),
            output,
            failed,
        };
        let not_made = |why| Ok((called(why, true), Duration::ZERO));
        let late = || {
            format!(
                "not finished: the budget of {} is spent",
                meter.out_of_time()
            )
        };

        // Other calls are those of a plan, which the method limits.
        let refusal = not_admitted(index, &FinishReason::ToolCalls);
        if let Some(refusal) = refusal.filter(|_| self.literal) {
            return not_made(refusal);
        }
        // A call whose turn comes too late isn't begun, since the tool may change something.
        if Instant::now() >= deadline {
            return not_made(late());
        }

        let number = (index + 1).to_string();
        match timeout_at(deadline, calls.call(&call, input, &number, meter)).await {
            Ok(made) => made.map(|(used, replayed)| (called(used.result, used.failed), replayed)),
            Err(_) => not_made(late()),
        }
    }
}

/// Makes the calls of a batch concurrently, and returns their results in order. Calls for which there
/// wasn't enough time have failed.
pub(super) async fn call_all(
    solver: &Solver,
    batch: &Batch,
    meter: &Meter,
) -> Result<Vec<Called>, CannotWait> {
    let tool_calls = &ToolCalls::new(&solver.tools, "the strategy");
    let deadline = meter.deadline();
    let made = batch.calls.iter().enumerate();
    let made =
        made.map(|(index, call)| call.make(&batch.stage, tool_calls, index, meter, deadline));
    // Collected first: the compiler can't prove that a stream over borrowed items is `Send`.
    let made: Vec<_> = made.collect();
    let made = stream::iter(made).buffered(solver.at_once);
    let made: Vec<(Called, Duration)> = made.try_collect().await?;

    // They were made at the same time.
    let longest = made.iter().map(|(_, replayed)| *replayed).max();
    meter.add_time(longest.unwrap_or_default());
    Ok(made.into_iter().map(|(called, _)| called).collect())
}
