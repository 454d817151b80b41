use cogwork_llm::{ChatResponse, FinishReason, Message};

use crate::{Outcome, Payload};

/// The effect of a hook.
pub(crate) enum Done {
    Kept,
    Changed { payload: Payload, replaced: bool },
    Again(Vec<Message>),
}

/// Returns the effect and the outcome of a hook that replaced `before` with `after`.
pub(crate) fn replaced(before: &Payload, after: Payload) -> (Done, Outcome) {
    if *before == after {
        return (Done::Kept, Outcome::Kept);
    }

    let replaced = before.text() != after.text() || before.tool_calls() != after.tool_calls();
    (
        Done::Changed {
            payload: after,
            replaced,
        },
        Outcome::Replaced,
    )
}

/// Returns the draft with the changes of the hooks. A truncated draft remains truncated if text was
/// appended to it, but not if it was replaced.
pub(crate) fn respond(draft: ChatResponse, payload: &Payload, is_replaced: bool) -> ChatResponse {
    if draft.text() == payload.text() && draft.tool_calls() == payload.tool_calls() {
        return draft;
    }

    let reason = match (is_replaced, payload.tool_calls().is_empty()) {
        (false, _) => draft.finish_reason().clone(),
        (true, true) => FinishReason::Stop,
        (true, false) => FinishReason::ToolCalls,
    };

    let mut response = ChatResponse::new(payload.text())
        .with_finish_reason(reason)
        .with_reasoning(draft.reasoning().unwrap_or_default())
        .with_tool_calls(payload.tool_calls().iter().cloned());
    if let Some(model) = draft.model() {
        response = response.with_model(model);
    }

    if let Some(id) = draft.request_id() {
        response = response.with_request_id(id);
    }

    match draft.usage() {
        Some(usage) => response.with_usage(usage),
        None => response,
    }
}
