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
    /// Whether the text or the tool calls were replaced, rather than appended to.
    pub(crate) is_replaced: bool,
}

impl Effect {
    /// Returns the effect of replacing `before` with `after`.
    pub(crate) fn replaced(before: &Payload, after: Payload) -> Self {
        if *before == after {
            return Self::Kept;
        }

        Self::Changed(Change {
            is_replaced: before.text() != after.text() || before.tool_calls() != after.tool_calls(),
            payload: after,
        })
    }

    /// Returns the effect of appending `text`.
    pub(crate) fn appended(before: &Payload, text: &str) -> Self {
        if text.is_empty() {
            return Self::Kept;
        }

        Self::Changed(Change {
            payload: before.clone().appended(text),
            is_replaced: false,
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
