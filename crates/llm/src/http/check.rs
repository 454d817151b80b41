//! Checks of a request that are common to all protocols, before anything is sent.

use super::errors::invalid;
use super::tools;
use crate::{ChatRequest, LlmError, Message, Role, ToolChoice};

pub(super) fn check(request: &ChatRequest) -> Result<(), LlmError> {
    // JSON cannot represent these; serde_json would write null, and the server would use its
    // default.
    if let Some(temperature) = request
        .temperature()
        .filter(|temperature| !temperature.is_finite())
    {
        return Err(invalid(format!(
            "the temperature is {temperature}; expected a finite number"
        )));
    }

    if let Some(ToolChoice::Tool(wanted)) = tools::choice(request) {
        let names: Vec<_> = request
            .tools()
            .iter()
            .map(crate::ToolDefinition::name)
            .collect();
        if !names.contains(&wanted.as_str()) {
            let names = names.join(", ");
            return Err(invalid(format!(
                "the tool choice is {wanted:?}; expected a tool of the request: {names}"
            )));
        }
    }

    let mut problems = request
        .messages()
        .iter()
        .enumerate()
        .filter_map(|(place, said)| Some((place, problem(said)?)));

    match problems.next() {
        Some((place, problem)) => Err(invalid(format!("messages[{place}] {problem}"))),
        None => Ok(()),
    }
}

fn problem(message: &Message) -> Option<String> {
    let role = message.role();
    if role == Role::Tool && message.tool_call_id().is_none() {
        let problem = "has no tool call id; expected Message::tool_result or Message::tool_failure";
        return Some(problem.to_owned());
    }

    if role != Role::Assistant && !message.tool_calls().is_empty() {
        return Some(format!(
            "has tool calls in the role {role}; expected them in the role assistant"
        ));
    }

    if matches!(role, Role::System | Role::Assistant) && !message.blocks().is_empty() {
        return Some(format!(
            "has images or files in the role {role}; expected them in the role user"
        ));
    }

    None
}
