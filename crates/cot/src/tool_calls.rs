//! The tool calls of a reply: finds them, makes them, and continues the conversation with their
//! results.

use cogwork_flow::engine::CannotWait;
use cogwork_flow::watch::note;
use cogwork_llm::backend::ResponseLimits;
use cogwork_llm::{ChatResponse, Message, ToolCall};
use cogwork_text::Name;
use cogwork_typed::ask::{Format, ToolCalls, ToolEvent, ToolUse, excerpt};
use cogwork_typed::{AnswerProblem, AnswerProblemKind};
use futures_util::StreamExt;

use crate::ReasoningEvent;
use crate::chain_of_thought::Calling;
use crate::replies::Replies;
use crate::reply::read_calls;
use crate::turn::Turn;

impl Replies<'_> {
    /// Returns the tool calls of a reply.
    pub(crate) fn wanted_calls(
        &self,
        response: &ChatResponse,
    ) -> Result<Vec<ToolCall>, AnswerProblem> {
        let text = response.text();
        let calls = match self.turn.node.calling() {
            Calling::Natively => response.tool_calls().to_vec(),
            Calling::InReplies => read_calls(text, &format!("call_{}_", self.tries))?,
            Calling::Never => return Ok(Vec::new()),
        };

        // Calls written into a text have passed no client, which would have checked them.
        let limited = ChatResponse::default().with_tool_calls(calls.iter().cloned());
        ResponseLimits::default().check(&limited).map_err(|error| {
            AnswerProblem::new(AnswerProblemKind::ToolCalls, 0, error.to_string())
        })?;
        Ok(calls)
    }

    /// Makes the calls of a reply concurrently, and returns the messages with which the
    /// conversation continues.
    pub(crate) async fn call_tools(
        &mut self,
        response: &ChatResponse,
        calls: &[ToolCall],
        format: Format,
    ) -> Result<Vec<Message>, CannotWait> {
        // Calls are only made while rounds are left.
        self.rounds_left -= 1;

        let turn = self.turn;
        let first = self.trace.tool_calls.len();
        let unfinished = "the turn ended before the tool returned";
        let begun = calls
            .iter()
            .map(|call| ToolUse::new(call, Err(unfinished.to_owned())));
        self.trace.tool_calls.extend(begun);

        // Each result is added as soon as it is there, because a turn may end before all calls have
        // returned.
        let tool_calls = turn.tool_calls();
        let mut made = tool_calls.begin(calls, response.finish_reason(), self.tries, &turn.meter);
        while let Some(made) = made.next().await {
            let (index, used) = made?;
            if let Some(call) = self.trace.tool_calls.get_mut(first + index) {
                *call = used;
                turn.report_result(call);
            }
        }

        self.want_thought();
        Ok(self.results(response, calls, first, format))
    }

    /// Returns the reply and the results of its calls as messages.
    fn results(
        &self,
        response: &ChatResponse,
        calls: &[ToolCall],
        first: usize,
        format: Format,
    ) -> Vec<Message> {
        let made = self.trace.tool_calls.get(first..).unwrap_or_default();
        let node = &self.turn.node;

        if node.calling() == Calling::InReplies {
            let is_last = !self.may_call();
            // The server knows nothing of tools, and would refuse their messages.
            let results = node.prompts.tool_results(made, is_last, format);
            return vec![Message::assistant(excerpt(response.text())), results];
        }

        let results = calls
            .iter()
            .zip(made)
            .map(|(call, made)| made.message(call));

        std::iter::once(said(response, calls))
            .chain(results)
            .collect()
    }
}

/// Returns a reply with calls as a message: as the model wrote it if it is short, otherwise with an
/// excerpt of its text.
fn said(response: &ChatResponse, calls: &[ToolCall]) -> Message {
    // The thinking was written before the results, and costs tokens in each further request.
    let reply = response.clone().separate_thinking();
    let text = match reply.text().trim() {
        // A message with calls may have no text, unlike others.
        "" => String::new(),
        _ => excerpt(reply.text()),
    };

    if text == reply.text() {
        reply.message()
    } else {
        Message::assistant(text).with_tool_calls(calls.iter().cloned())
    }
}

impl Turn {
    fn tool_calls(&self) -> ToolCalls<'_> {
        let thought = self.thought_number;
        let calls = ToolCalls::new(&self.node.tools, format!("thought {thought}"));

        // The results are reported with those that were recorded.
        calls.with_events(move |event| {
            if let ToolEvent::ToolCall { name, input, .. } = event {
                self.node.emit(|| ReasoningEvent::ToolCall {
                    thought,
                    name,
                    input,
                });
            }
        })
    }

    fn report_result(&self, call: &ToolUse) {
        let outcome = if call.failed { "failed" } else { "returned" };
        let bytes = call.result.len();
        note(|| format!("the tool `{}` {outcome} ({bytes} bytes)", Name(&call.name)));

        self.node.emit(|| ReasoningEvent::ToolResult {
            thought: self.thought_number,
            name: call.name.clone(),
            input: call.arguments.clone(),
            output: call.result.clone(),
            failed: call.failed,
        });
    }
}
