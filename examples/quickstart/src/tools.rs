//! The tools that a turn calls, if the request has them.

use cogwork_llm::{ChatRequest, Message, Role, ToolCall, ToolChoice};
use cogwork_plan::{Plan, Status, Step};
use serde_json::json;

use super::evaluate::evaluate;
use super::number::value_text;
use super::planning::CHECK;
use super::words;
use super::writing::Turn;

/// Calculates the first expression in a text.
///
/// # Errors
///
/// Returns why there is none, or why it has no value.
pub fn calculate(text: &str) -> Result<String, String> {
    let reading = words::read(text).map_err(|why| why.to_string())?;
    let value = evaluate(&reading.expression).map_err(|failure| failure.to_string())?;
    Ok(value_text(&value))
}

/// Returns the call that the turn needs before its reply.
pub(super) fn wanted_call(request: &ChatRequest, turn: &Turn) -> Option<ToolCall> {
    let is_allowed = request.tool_choice() != Some(&ToolChoice::None);
    let is_answered = result(request).is_some();
    if !is_allowed || is_answered {
        return None;
    }

    let (tool, input) = if turn.next_thought_needed {
        let expression = checked_expression(&turn.plan)?;
        ("calculate", json!({"expression": expression}))
    } else {
        let answer = turn.plan.steps().last()?.result.as_deref()?;
        ("publish", json!({"answer": answer}))
    };

    let has_tool = request.tools().iter().any(|known| known.name() == tool);
    let id = format!("call_{}", request.messages().len());
    has_tool.then(|| ToolCall::new(id, tool, input.to_string()))
}

/// Adds what the tool returned to the thought.
pub(super) fn add_result(request: &ChatRequest, turn: &mut Turn) {
    let Some(message) = result(request) else {
        return;
    };

    let tool = message.tool_name().unwrap_or_default();
    let line = if message.is_tool_failure() {
        format!("\nThe tool `{tool}` failed: {}.", message.text())
    } else {
        format!("\nThe tool `{tool}` returned {}.", message.text())
    };
    turn.thinking.push_str(&line);
}

/// Returns the result of the call of this turn.
fn result(request: &ChatRequest) -> Option<&Message> {
    let last = request.messages().last()?;
    (last.role() == Role::Tool).then_some(last)
}

/// Returns the expression of the problem, if the turn has just checked the result.
fn checked_expression(plan: &Plan) -> Option<&str> {
    let [understood, .., check, conclusion] = plan.steps() else {
        return None;
    };

    let is_checked = check.description == CHECK && check.status == Status::Done;
    let is_open = |step: &Step| step.status == Status::Pending;
    let expression = understood.result.as_deref();
    expression.filter(|_| is_checked && is_open(conclusion))
}
