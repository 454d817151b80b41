use cogwork_llm::{ChatResponse, FinishReason, Message};

use crate::Payload;

/// The effect of a hook on the payload.
pub(crate) enum Effect {
    Kept,
    Changed(Change),
    Again(Vec<Message>),
}

pub(crate) struct Change {
    pub(crate) payload: Payload,
    /// Whether the text or the tool calls were replaced, rather than extended.
    pub(crate) is_replaced: bool,
}

impl Effect {
    /// Returns the effect of replacing `before` with `after`.
    pub(crate) fn of(before: &Payload, after: Payload) -> Self {
        if *before == after {
            return Self::Kept;
        }

        let is_extended = !before.text().is_empty() && after.text().starts_with(before.text());
        Self::Changed(Change {
            is_replaced: !is_extended || before.tool_calls() != after.tool_calls(),
            payload: after,
        })
    }
}

/// A draft with the changes of all hooks.
pub(crate) struct Finished {
    pub(crate) draft: ChatResponse,
    pub(crate) payload: Payload,
    pub(crate) is_replaced: bool,
}

/// Returns the draft with the changes of the hooks. A truncated draft remains truncated if text was
/// appended to it, but not if it was replaced.
pub(crate) fn respond(finished: Finished) -> ChatResponse {
    let Finished {
        draft,
        payload,
        is_replaced,
    } = finished;

    if draft.text() == payload.text() && draft.tool_calls() == payload.tool_calls() {
        return draft;
    }

    let reason = match (is_replaced, payload.tool_calls().is_empty()) {
        (false, _) => draft.finish_reason().clone(),
        (true, true) => FinishReason::Stop,
        (true, false) => FinishReason::ToolCalls,
    };

    draft
        .with_text(payload.text())
        .with_finish_reason(reason)
        .with_tool_calls(payload.tool_calls().iter().cloned())
}
