//! The tool calls of a reply: finds them, makes them, and continues the conversation with their
//! results.

use cogwork_llm::{ChatResponse, Message, ResponseLimits, ToolCall};
use cogwork_typed::ask::excerpt;

use super::Judge;
use crate::form::Form;
use crate::reply::read_calls;
use crate::tool_calls::ToolCalls;
use crate::tooling::Calling;
use crate::{ReplyProblem, ReplyProblemKind, ToolCallRecord};

/// The maximum number of bytes of a reply in which calls are looked for.
const MAX_BYTES: usize = 256 * 1024;

impl Judge<'_> {
    /// Makes the calls of a reply, and returns the messages with which the conversation continues.
    pub(super) async fn call_tools(
        &mut self,
        response: &ChatResponse,
        calls: &[ToolCall],
        form: Form,
    ) -> Vec<Message> {
        self.rounds_left -= 1;

        let reply = ToolCalls {
            node: self.node,
            thought_number: self.brief.thought_number,
            try_number: self.tries,
            reason: response.finish_reason(),
            calls,
        };

        for _ in 0..reply.admitted() {
            self.brief.meter.count_tool_call();
        }

        let first = self.tool_calls.len();
        let begun = calls
            .iter()
            .map(|call| ToolCallRecord::begun(self.tries, call));
        self.tool_calls.extend(begun);

        let uses = self.tool_calls.get_mut(first..).unwrap_or_default();
        match reply.make(uses).await {
            Ok(replayed) => self.brief.meter.add_time(replayed),
            Err(error) => self.cannot_wait = Some(error),
        }

        match self.brief.calling {
            Calling::InReplies => self.results_in_text(response, first, form),
            Calling::Natively | Calling::Never => self.results_as_messages(response, calls, first),
        }
    }

    fn results_in_text(&self, response: &ChatResponse, first: usize, form: Form) -> Vec<Message> {
        let uses = self.tool_calls.get(first..).unwrap_or_default();
        let is_last = !self.may_call();

        vec![
            Message::assistant(excerpt(response.text())),
            self.node.prompts.tool_results(uses, is_last, form),
        ]
    }

    fn results_as_messages(
        &self,
        response: &ChatResponse,
        calls: &[ToolCall],
        first: usize,
    ) -> Vec<Message> {
        let uses = self.tool_calls.iter().skip(first);
        let results = calls.iter().zip(uses).map(|(call, used)| {
            if used.failed {
                Message::tool_failure(call, used.output.as_str())
            } else {
                Message::tool_result(call, used.output.as_str())
            }
        });

        std::iter::once(said(response, calls))
            .chain(results)
            .collect()
    }

    /// Returns the tool calls of a reply.
    pub(super) fn wanted_calls(
        &self,
        response: &ChatResponse,
    ) -> Result<Vec<ToolCall>, ReplyProblem> {
        let calls = match self.brief.calling {
            Calling::Never => return Ok(Vec::new()),
            Calling::Natively => response.tool_calls().to_vec(),
            Calling::InReplies => self.calls_in_text(response)?,
        };

        let limited = ChatResponse::default().with_tool_calls(calls.iter().cloned());
        ResponseLimits::default()
            .check(&limited)
            .map_err(|error| ReplyProblem::new(ReplyProblemKind::ToolCalls, error))?;
        Ok(calls)
    }

    fn calls_in_text(&self, response: &ChatResponse) -> Result<Vec<ToolCall>, ReplyProblem> {
        // The reader of plans returns the error.
        if response.text().len() > MAX_BYTES {
            return Ok(Vec::new());
        }

        read_calls(response.text(), &format!("call_{}_", self.tries))
    }
}

/// Returns a reply with calls as a message: as the model wrote it if it is short, otherwise with an
/// excerpt of its text.
fn said(response: &ChatResponse, calls: &[ToolCall]) -> Message {
    let reply = response.clone().separate_thinking();
    let text = match reply.text().trim() {
        "" => String::new(),
        _ => excerpt(reply.text()),
    };

    if text == reply.text() {
        reply.message()
    } else {
        Message::assistant(text).with_tool_calls(calls.iter().cloned())
    }
}
