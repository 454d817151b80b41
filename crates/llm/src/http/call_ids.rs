use std::collections::HashSet;

use crate::{ChatRequest, ChatResponse, FinishReason, LlmError, LlmErrorKind, Message, ToolCall};

/// How many calls a reply may ask for.
pub(crate) const MOST: usize = 128;

/// Gives each call of a reply an id that no other of the conversation has: some servers give none, or
/// begin anew with each reply.
pub(crate) struct CallIds {
    taken: HashSet<String>,
    made: u64,
    calls: usize,
}

impl CallIds {
    /// For the reply to this request.
    pub(super) fn of(request: &ChatRequest) -> Self {
        let calls = request.messages().iter().flat_map(Message::tool_calls);
        Self {
            taken: calls.map(|call| call.id().to_owned()).collect(),
            made: 0,
            calls: 0,
        }
    }

    /// The call as the program gets it.
    pub(super) fn admit(&mut self, call: ToolCall) -> Result<ToolCall, LlmError> {
        self.calls += 1;
        if self.calls > MOST {
            return Err(too_many());
        }

        let keeps_id = !call.id().is_empty() && self.taken.insert(call.id().to_owned());

        // Servers say "nothing" as an empty text too, which is no JSON.
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

    /// A response that has its calls, as the program gets it.
    pub(super) fn whole(mut self, response: ChatResponse) -> Result<ChatResponse, LlmError> {
        let calls = response
            .tool_calls()
            .iter()
            .cloned()
            .map(|call| self.admit(call));

        let calls = calls.collect::<Result<Vec<_>, _>>()?;
        Ok(self.end(response.with_tool_calls(calls)))
    }

    /// A response whose calls went before it. Not every server has a word of its own for such an end.
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
    let message = format!("the reply asks for more than {MOST} calls of tools");
    LlmError::new(LlmErrorKind::Decode, message)
}
