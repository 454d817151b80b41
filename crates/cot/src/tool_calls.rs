//! The tool calls of a reply: finds them, makes them, and continues the conversation with their
//! results.

use std::time::Duration;

use cogwork_flow::engine::{CannotWait, scoped_event, wait_for};
use cogwork_flow::watch::note;
use cogwork_llm::backend::ResponseLimits;
use cogwork_llm::{ChatResponse, Message, ToolCall};
use cogwork_text::{Escaped, Name};
use cogwork_tools::{ToolApproval, ToolError};
use cogwork_typed::AnswerProblemKind;
use cogwork_typed::ask::{Format, excerpt, record};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Value};

use crate::chain_of_thought::Calling;
use crate::replies::Replies;
use crate::reply::read_calls;
use crate::turn::Turn;
use crate::{ReasoningEvent, ReplyProblem, ToolCallRecord};

/// The maximum number of characters of an input that a person is asked about.
const SHOWN_INPUT: usize = 4_000;

/// The result of a call that was made or refused, and how long it took if its recorded outcome was
/// used.
type Called = (Result<String, String>, Duration);

impl Replies<'_> {
    /// Returns the tool calls of a reply.
    pub(crate) fn wanted_calls(
        &self,
        response: &ChatResponse,
    ) -> Result<Vec<ToolCall>, ReplyProblem> {
        let text = response.text();
        let calls = match self.turn.node.calling() {
            Calling::Natively => response.tool_calls().to_vec(),
            Calling::InReplies => read_calls(text, &format!("call_{}_", self.tries))?,
            Calling::Never => return Ok(Vec::new()),
        };

        let limited = ChatResponse::default().with_tool_calls(calls.iter().cloned());
        ResponseLimits::default()
            .check(&limited)
            .map_err(|error| ReplyProblem::new(AnswerProblemKind::ToolCalls, error))?;
        Ok(calls)
    }

    /// Makes the calls of a reply concurrently, and returns the messages with which the
    /// conversation continues.
    pub(crate) async fn call_tools(
        &mut self,
        response: &ChatResponse,
        calls: &[ToolCall],
        format: Format,
    ) -> Vec<Message> {
        self.rounds_left -= 1;

        let turn = self.turn;
        let first = self.trace.tool_calls.len();
        let mut running = FuturesUnordered::new();

        for (index, call) in calls.iter().enumerate() {
            let begun = ToolCallRecord::begun(self.tries, call);
            self.trace.tool_calls.push(begun);

            let tools = &turn.node.tools;
            let admitted = tools.admit(index, response.finish_reason());
            let input = admitted.and_then(|()| tools.input_of(call));
            if input.is_ok() {
                turn.meter.count_tool_call();
            }

            let place = format!("{}.{}", self.tries, index + 1);
            running.push(async move { (index, turn.call_tool(call, input, &place).await) });
        }

        // Each result is added as soon as it is there, because a turn may end before all calls have
        // returned.
        let mut longest_replayed = Duration::ZERO;
        while let Some((index, called)) = running.next().await {
            let (result, replayed) = match called {
                Ok(called) => called,
                Err(error) => {
                    self.cannot_wait = Some(error);
                    break;
                }
            };

            longest_replayed = longest_replayed.max(replayed);
            if let Some(call) = self.trace.tool_calls.get_mut(first + index) {
                call.end(result);
                turn.report_result(call);
            }
        }
        turn.meter.add_time(longest_replayed);

        self.want_thought();
        self.results(response, calls, first, format)
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
            let results = node.prompts.tool_results(made, is_last, format);
            return vec![Message::assistant(excerpt(response.text())), results];
        }

        let results = calls.iter().zip(made).map(|(call, made)| {
            if made.failed {
                Message::tool_failure(call, made.output.as_str())
            } else {
                Message::tool_result(call, made.output.as_str())
            }
        });

        std::iter::once(said(response, calls))
            .chain(results)
            .collect()
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

impl Turn {
    /// Makes a call, or returns its recorded outcome. `place` is the number of the reply in the
    /// turn, and that of the call in the reply.
    async fn call_tool(
        &self,
        call: &ToolCall,
        input: Result<Map<String, Value>, ToolError>,
        place: &str,
    ) -> Result<Called, CannotWait> {
        let refused = |problem: String| Ok((Err(problem), Duration::ZERO));
        let input = match input {
            Ok(input) => input,
            Err(error) => return refused(error.to_string()),
        };

        if self.node.approval.contains(call.name())
            && let Some(refusal) = self.refusal(call.name(), input, place).await?
        {
            return refused(refusal);
        }

        let label = format!("tool {place}");
        match record(&label, || self.make_call(call)).await {
            Ok((result, replayed)) => Ok((result, replayed.unwrap_or_default())),
            Err(problem) => refused(problem),
        }
    }

    /// Waits for a person's decision about a call. Returns the reason if it is refused.
    async fn refusal(
        &self,
        tool: &str,
        input: Map<String, Value>,
        place: &str,
    ) -> Result<Option<String>, CannotWait> {
        let event = scoped_event(&format!("approve {tool} {place}"));
        // The parsed input, because the text may contain a key twice.
        let input = Value::Object(input).to_string();
        let input = Escaped::new(&input).with_max_chars(SHOWN_INPUT);
        let number = self.thought_number;
        let question = format!("thought {number} wants to call the tool `{tool}` with {input}");

        let answer = wait_for::<ToolApproval>(&event, &question, None).await?;
        let answer = answer.unwrap_or_else(ToolApproval::refused);
        Ok(answer.refusal())
    }

    async fn make_call(&self, call: &ToolCall) -> Result<String, String> {
        note(|| format!("calling the tool `{}`", Name(call.name())));
        self.node.emit(|| ReasoningEvent::ToolCall {
            thought: self.thought_number,
            name: call.name().to_owned(),
            input: call.arguments().to_owned(),
        });

        let result = self.node.tools.call(call).await;
        result.map_err(|error| error.to_string())
    }

    fn report_result(&self, call: &ToolCallRecord) {
        let outcome = if call.failed { "failed" } else { "returned" };
        let bytes = call.output.len();
        note(|| format!("the tool `{}` {outcome} ({bytes} bytes)", Name(&call.name)));

        self.node.emit(|| ReasoningEvent::ToolResult {
            thought: self.thought_number,
            name: call.name.clone(),
            input: call.input.clone(),
            output: call.output.clone(),
            failed: call.failed,
        });
    }
}
