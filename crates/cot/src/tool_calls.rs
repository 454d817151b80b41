//! Makes the tool calls of a reply.

use std::convert::Infallible;
use std::time::Duration;

use cogwork_flow::journal::{CallError, CannotWait, recorded, scoped_event, wait_for};
use cogwork_flow::note;
use cogwork_llm::{FinishReason, ToolCall};
use cogwork_text::{Escaped, Name};
use cogwork_tools::{ToolApproval, ToolError};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::{ChainOfThought, ReasoningEvent, ToolCallRecord};

/// The maximum number of characters of an input that a person is asked about.
const SHOWN_INPUT: usize = 4_000;

/// The tool calls of a reply.
pub(crate) struct ToolCalls<'a> {
    pub(crate) node: &'a ChainOfThought,
    pub(crate) thought_number: u32,
    /// The number of the reply in the turn, from 1.
    pub(crate) try_number: u32,
    /// The reason why the model stopped writing the reply.
    pub(crate) reason: &'a FinishReason,
    pub(crate) calls: &'a [ToolCall],
}

/// The result of a call, in its recorded form.
#[derive(Serialize, Deserialize)]
struct Outcome {
    result: Result<String, String>,
    seconds: f64,
}

/// The result of a call that was made or refused.
struct Called {
    result: Result<String, String>,
    /// How long the call took, if its recorded outcome was used.
    replayed: Duration,
}

impl Called {
    fn refused(problem: String) -> Self {
        Self {
            result: Err(problem),
            replayed: Duration::ZERO,
        }
    }
}

impl ToolCalls<'_> {
    /// Returns how many of the calls can be made. The others are answered with an error.
    pub(crate) fn admitted(&self) -> usize {
        let calls = self.calls.iter().enumerate();
        calls
            .filter(|(index, call)| self.input(*index, call).is_ok())
            .count()
    }

    /// Returns the input of a call as JSON, or an error if the call cannot be made.
    fn input(&self, index: usize, call: &ToolCall) -> Result<String, ToolError> {
        let tools = &self.node.tooling.tools;
        tools.admit(index, self.reason)?;

        // The parsed input, because the text may contain a key twice.
        tools
            .input_of(call)
            .map(|input| Value::Object(input).to_string())
    }

    /// Makes the calls concurrently, and returns how long the recorded ones took. `uses` are the
    /// records of the calls, in order, to which the results are added as soon as they are there,
    /// because a turn may end before all calls have returned.
    pub(crate) async fn make(&self, uses: &mut [ToolCallRecord]) -> Result<Duration, CannotWait> {
        let indexed = self.calls.iter().enumerate();
        let mut running: FuturesUnordered<_> = indexed
            .map(|(index, call)| async move { (index, self.called(index, call).await) })
            .collect();
        let mut replayed = Duration::ZERO;

        while let Some((index, called)) = running.next().await {
            let called = called?;
            replayed = replayed.max(called.replayed);

            if let Some(begun) = uses.get_mut(index) {
                *begun = begun.clone().returned(called.result);
                self.report(begun);
            }
        }

        Ok(replayed)
    }

    async fn called(&self, index: usize, call: &ToolCall) -> Result<Called, CannotWait> {
        let input = match self.input(index, call) {
            Ok(input) => input,
            Err(error) => return Ok(Called::refused(error.to_string())),
        };

        let place = format!("{}.{}", self.try_number, index + 1);
        if self.node.tooling.approval.contains(call.name())
            && let Some(refusal) = self.refusal(call.name(), &input, &place).await?
        {
            return Ok(Called::refused(refusal));
        }

        Ok(self.make_call(call, &place).await)
    }

    /// Waits for a person's decision about a call. Returns the reason if it is refused.
    async fn refusal(
        &self,
        tool: &str,
        input: &str,
        place: &str,
    ) -> Result<Option<String>, CannotWait> {
        let event = scoped_event(&format!("approve {tool} {place}"));
        let input = Escaped::new(input).with_max_chars(SHOWN_INPUT);
        let number = self.thought_number;
        let question = format!("thought {number} wants to call the tool `{tool}` with {input}");

        let answer = wait_for::<ToolApproval>(&event, &question, None).await?;
        let answer = answer.unwrap_or_else(ToolApproval::refused);
        Ok(answer.refusal())
    }

    /// Makes a call, or returns its recorded outcome.
    async fn make_call(&self, call: &ToolCall, place: &str) -> Called {
        let mut was_made = false;
        let label = format!("tool {place}");
        let outcome = recorded(&label, || {
            was_made = true;
            self.outcome(call)
        });

        let outcome = match outcome.await {
            Ok(outcome) => outcome,
            Err(CallError::Failed(never)) => match never {},
            Err(CallError::Recorded(problem)) => return Called::refused(problem),
        };

        let took = Duration::try_from_secs_f64(outcome.seconds).unwrap_or_default();
        Called {
            result: outcome.result,
            replayed: if was_made { Duration::ZERO } else { took },
        }
    }

    async fn outcome(&self, call: &ToolCall) -> Result<Outcome, Infallible> {
        note(|| format!("calling the tool `{}`", Name(call.name())));
        self.node.emit(|| ReasoningEvent::ToolCall {
            thought: self.thought_number,
            name: call.name().to_owned(),
            input: call.arguments().to_owned(),
        });

        let started = Instant::now();
        let result = self.node.tooling.tools.call(call).await;
        Ok(Outcome {
            result: result.map_err(|error| error.to_string()),
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    fn report(&self, used: &ToolCallRecord) {
        let outcome = if used.failed { "failed" } else { "returned" };
        let bytes = used.output.len();
        note(|| format!("the tool `{}` {outcome} ({bytes} bytes)", Name(&used.name)));

        self.node.emit(|| ReasoningEvent::ToolResult {
            thought: self.thought_number,
            name: used.name.clone(),
            input: used.input.clone(),
            output: used.output.clone(),
            failed: used.failed,
        });
    }
}
