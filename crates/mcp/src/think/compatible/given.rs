//! The arguments of a thought in think-strategies.

use std::collections::BTreeMap;

use cogwork_strategies::{Strategy, ThoughtDraft, ThoughtId};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::arguments::{ArgumentError, Arguments, in_snake_case};
use crate::think::begin::{self, PURPOSE};
use crate::think::draft::{self, NAME};
use crate::think::sessions::ThinkSessions;

/// The maximum number of planned actions, and of results.
const ACTIONS: usize = 100;

/// What a call has given.
#[derive(Debug)]
pub(super) struct Given {
    /// The thought, without a stage and parameters unless they were given.
    pub(super) draft: ThoughtDraft,
    pub(super) strategy: Option<Strategy>,
    pub(super) purpose: String,
    /// The number that the caller has given the thought.
    pub(super) number: Option<u32>,
    pub(super) branch: Option<String>,
    pub(super) branch_from: Option<ThoughtId>,
    /// Whether the caller wants to end with this thought.
    pub(super) wants_end: bool,
    /// Values that stages may need, by the name of a parameter.
    pub(super) values: BTreeMap<String, Value>,
    /// The names of arguments that may be parameters of a stage.
    pub(super) others: Vec<String>,
}

impl Given {
    pub(super) fn read(
        mut arguments: Arguments,
        sessions: &ThinkSessions,
    ) -> Result<Self, ArgumentError> {
        let bytes = sessions.limits().thought_bytes;
        let number = arguments.integer("thoughtNumber", 1..=u32::MAX)?;
        let mut draft = draft::draft(&mut arguments, sessions.limits())?;
        draft.total_thoughts = draft
            .total_thoughts
            .max(number.filter(|_| draft.total_thoughts.is_some()));

        // Ratings have no counterpart, and whether a thought is a revision follows from the one
        // that it revises.
        for name in ["qualityRating", "isRevision"] {
            arguments.value(name);
        }

        let answer = arguments.text("finalAnswer", bytes)?;
        let wants_end = answer.is_some() || !draft.next_thought_needed;
        if let Some(answer) = answer.filter(|answer| *answer != draft.thought) {
            draft.thought.push_str("\n\n");
            draft.thought.push_str(&answer);
            arguments.check_bytes("finalAnswer", draft.thought.len(), bytes)?;
        }

        let mut given = Self {
            draft,
            strategy: begin::strategy(&mut arguments, sessions.strategies())?,
            purpose: purpose(&mut arguments)?,
            number,
            branch: arguments.text("branchId", NAME)?,
            branch_from: draft::thought(&mut arguments, "branchFromThought")?,
            wants_end,
            values: BTreeMap::new(),
            others: Vec::new(),
        };
        given.read_actions(&mut arguments)?;
        arguments.check_bytes("plannedActions", given.bytes(), bytes)?;
        given.read_results(&mut arguments)?;
        arguments.check_bytes("actionResults", given.bytes(), bytes)?;
        given.read_values(&mut arguments, bytes)?;
        Ok(given)
    }

    /// Reads what ReWOO calls its plan and its calls, and ReAct its action.
    fn read_actions(&mut self, arguments: &mut Arguments) -> Result<(), ArgumentError> {
        let Some(actions) = objects(arguments, "plannedActions")? else {
            return Ok(());
        };

        let mut plan = Vec::new();
        let mut calls = Vec::new();
        for (index, mut action) in actions.into_iter().enumerate() {
            let tool = action.required_text("tool", NAME)?;
            let server = action.text("server", NAME)?;
            let input = action.value("parameters").unwrap_or_else(|| json!({}));
            let purpose = action.text("expectedInfo", PURPOSE)?;
            action.finish()?;

            if index == 0 {
                self.set("action", json!(tool));
                self.set("action_input", input.clone());
            }
            plan.push(purpose.unwrap_or_else(|| format!("call {tool}")));
            let tool = server.map_or(tool.clone(), |server| format!("{server}/{tool}"));
            calls.push(json!({"id": evidence(index), "tool": tool, "input": input}));
        }

        self.set("plan", json!(plan));
        self.set("tool_calls", Value::Array(calls));
        Ok(())
    }

    /// Reads what ReWOO calls its evidence, and ReAct its observation.
    fn read_results(&mut self, arguments: &mut Arguments) -> Result<(), ArgumentError> {
        let Some(results) = objects(arguments, "actionResults")? else {
            return Ok(());
        };

        let mut found = JsonObject::new();
        for (index, mut result) in results.into_iter().enumerate() {
            let value = result.value("result");
            let error = result.value("error");
            let value = value.or(error).unwrap_or(Value::Null);
            found.insert(evidence(index), as_text(value).into());
        }

        let texts: Vec<&str> = found.values().filter_map(Value::as_str).collect();
        self.set("observation", json!(texts.join("\n")));
        self.set("evidence", Value::Object(found));
        Ok(())
    }

    /// Reads all other arguments, which may be parameters of a stage.
    fn read_values(
        &mut self,
        arguments: &mut Arguments,
        bytes: usize,
    ) -> Result<(), ArgumentError> {
        let rest = arguments.take_rest(bytes)?;
        for (name, value) in rest {
            let name = in_snake_case(&name);
            self.others.push(name.clone());
            self.values.insert(name, value);
        }
        for (name, value) in &self.draft.parameters {
            self.values.insert(name.clone(), value.clone());
        }
        if let Some(revised) = self.draft.revises {
            self.set("revises_thought", json!(revised));
        }
        Ok(())
    }

    /// Returns the length of the values as JSON.
    fn bytes(&self) -> usize {
        serde_json::to_string(&self.values).map_or(0, |text| text.len())
    }

    fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }
}

fn purpose(arguments: &mut Arguments) -> Result<String, ArgumentError> {
    let purpose = arguments.text("sessionPurpose", PURPOSE)?;
    Ok(purpose.unwrap_or_default())
}

fn objects(
    arguments: &mut Arguments,
    name: &'static str,
) -> Result<Option<Vec<Arguments>>, ArgumentError> {
    let objects = arguments.objects(name)?;
    match objects {
        Some(objects) if objects.len() > ACTIONS => {
            let expected = format_args!("at most {ACTIONS} objects");
            Err(arguments.fault(name, expected, &Value::Array(Vec::new())))
        }
        objects => Ok(objects),
    }
}

/// Returns the name of the evidence of a call.
fn evidence(index: usize) -> String {
    format!("#E{}", index.saturating_add(1))
}

fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
