use std::collections::HashSet;

use crate::{ChatRequest, ChatResponse, FinishReason, LlmError, LlmErrorKind, Message, ToolCall};

/// The maximum number of tool calls in a reply.
pub(crate) const MOST: usize = 128;

/// Gives each tool call of a reply an id that is unique in the conversation. Some servers send no
/// ids, or start again with each reply.
pub(crate) struct CallIds {
    taken: HashSet<String>,
    made: u64,
    calls: usize,
}

impl CallIds {
    /// Creates the ids for the reply to this request.
    pub(super) fn of(request: &ChatRequest) -> Self {
        let calls = request.messages().iter().flat_map(Message::tool_calls);
        Self {
            taken: calls.map(|call| call.id().to_owned()).collect(),
            made: 0,
            calls: 0,
        }
    }

    /// Returns the call with a unique id and non-empty arguments.
    pub(super) fn admit(&mut self, call: ToolCall) -> Result<ToolCall, LlmError> {
        self.calls += 1;
        if self.calls > MOST {
            return Err(too_many());
        }

        let keeps_id = !call.id().is_empty() && self.taken.insert(call.id().to_owned());

        // Some servers send an empty text for no arguments, which isn't valid JSON.
        let arguments = if call.arguments().trim().is_empty() {
            "{}"
        } else {
            call.arguments()
        };

        Ok(match keeps_id {
            true if arguments == call.arguments() => call,
            true => ToolCall::new(call.id(), call.name(), arguments),
            false => ToolCall::new(self.make(), call.name(), arguments),
        })
    }

    fn make(&mut self) -> String {
        loop {
            self.made += 1;
            let id = format!("call_{}", self.made);
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }

    /// Returns a complete response with unique call ids.
    pub(super) fn whole(mut self, response: ChatResponse) -> Result<ChatResponse, LlmError> {
        let calls = response
            .tool_calls()
            .iter()
            .cloned()
            .map(|call| self.admit(call));

        let calls = calls.collect::<Result<Vec<_>, _>>()?;
        Ok(self.end(response.with_tool_calls(calls)))
    }

    /// Returns the end of a response whose calls were admitted before. Some servers have no finish
    /// reason for tool calls.
    pub(super) fn end(&self, response: ChatResponse) -> ChatResponse {
        match response.finish_reason() {
            FinishReason::Stop if self.calls > 0 => {
                response.with_finish_reason(FinishReason::ToolCalls)
            }
            _ => response,
        }
    }
}

pub(crate) fn too_many() -> LlmError {
    let message = format!("the reply contains more than {MOST} tool calls");
    LlmError::new(LlmErrorKind::Decode, message)
}
