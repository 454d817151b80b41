//! The tools that a turn calls, if the request has them.

use cogwork_llm::{ChatRequest, Message, Role, ToolCall, ToolChoice};
use cogwork_plan::{Plan, Status};
use serde_json::json;

use crate::arithmetic::text;
use crate::problem::Problem;
use crate::turn::{CHECK, Turn};

/// Calculates an expression.
///
/// # Errors
///
/// Returns why it can't be calculated.
pub fn calculate(expression: &str) -> Result<String, String> {
    Ok(text(Problem::read(expression)?.calculation.value))
}

/// Returns the call that the turn needs before its reply.
pub(crate) fn wanted_call(request: &ChatRequest, turn: &Turn) -> Option<ToolCall> {
    let is_allowed = request.tool_choice() != Some(&ToolChoice::None);
    if !is_allowed || result(request).is_some() {
        return None;
    }

    let (tool, input) = if turn.next_thought_needed {
        ("calculate", json!({"expression": checked(&turn.plan)?}))
    } else {
        let answer = turn.plan.steps().last()?.result.as_deref()?;
        ("publish", json!({"answer": answer}))
    };

    let has_tool = request.tools().iter().any(|known| known.name() == tool);
    let id = format!("call_{}", request.messages().len());
    has_tool.then(|| ToolCall::new(id, tool, input.to_string()))
}

/// Adds what the tool returned to the thought.
pub(crate) fn add_result(request: &ChatRequest, turn: &mut Turn) {
    let Some(message) = result(request) else {
        return;
    };

    let tool = message.tool_name().unwrap_or_default();
    let returned = if message.is_tool_failure() {
        "failed:"
    } else {
        "returned"
    };
    let line = format!("\nThe tool `{tool}` {returned} {}.", message.text());
    turn.thinking.push_str(&line);
}

/// Returns the result of the call of this turn.
fn result(request: &ChatRequest) -> Option<&Message> {
    let last = request.messages().last()?;
    (last.role() == Role::Tool).then_some(last)
}

/// Returns the expression of the problem, if the turn has just checked the result.
fn checked(plan: &Plan) -> Option<&str> {
    let [understood, _, check, conclusion] = plan.steps() else {
        return None;
    };

    let is_checked = check.description == CHECK && check.status == Status::Done;
    let is_open = conclusion.status == Status::Pending;
    let understood = understood
        .result
        .as_deref()
        .filter(|_| is_checked && is_open)?;
    understood.rsplit("here ").next()
}
