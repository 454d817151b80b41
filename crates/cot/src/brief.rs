use std::collections::BTreeMap;
use std::time::Duration;

use cogwork_ask::Rung;
use cogwork_llm::{ChatRequest, Messages, ToolChoice};

use crate::ReplyBounds;
use crate::form::Form;
use crate::format::reply_format;
use crate::tooling::Calling;

/// The input of `exec` for one turn.
#[derive(Debug)]
pub struct Brief {
    pub(crate) thought_number: u32,
    /// The settings of the request.
    pub(crate) request: ChatRequest,
    /// The conversation for each form in which the reply may be requested.
    pub(crate) conversations: BTreeMap<Form, Messages>,
    pub(crate) bounds: ReplyBounds,
    /// The forms in which the reply may be requested, tightest first.
    pub(crate) rungs: Vec<Rung>,
    pub(crate) calling: Calling,
    pub(crate) tokens_left: u64,
    pub(crate) time_left: Duration,
}

impl Brief {
    /// Returns the request for a reply on this rung. `may_call` is whether the model may call tools
    /// instead.
    pub(crate) fn request(&self, rung: Rung, may_call: bool) -> ChatRequest {
        let conversation = self.conversations.get(&Form::from(rung));
        let conversation = conversation.cloned().unwrap_or_default();
        let request = self.request.clone().with_messages(conversation);

        if self.calling == Calling::Natively && may_call {
            // Many servers refuse a format next to tools, or never call a tool then.
            return request;
        }

        let request = match self.calling {
            Calling::Natively => request.with_tool_choice(ToolChoice::None),
            Calling::Never | Calling::InReplies => request,
        };

        match reply_format(rung, self.bounds) {
            Some(format) => request.with_format(format),
            None => request,
        }
    }
}
