use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_flow::engine::{CallError, CannotWait, recorded, scoped_event, wait_for};
use cogwork_flow::watch::note;
use cogwork_llm::{ChatResponse, Message, ToolCall};
use cogwork_text::{Escaped, Name};
use cogwork_tools::{ToolApproval, Tools};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ask::{Meter, call_label, report_tool_call};

/// The maximum number of characters of the arguments that a person is asked about.
const MAX_ARGUMENTS: usize = 4_000;

/// The tool calls of a step: approved by a person if their tool [needs it](Tools::with_approval),
/// recorded, and reported as events of the run.
///
/// In a [composite](cogwork_flow::Node::is_composite) node of a run with a journal, each result is
/// recorded, and a resumed run uses the recorded ones.
#[derive(Debug)]
pub struct ToolCalls<'t> {
    tools: &'t Tools,
    asker: String,
    /// The number of calls that wait for a person.
    waiting: AtomicUsize,
    /// The number of calls in progress.
    running: AtomicUsize,
}

/// A tool call and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// The name of the tool, as the model wrote it.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
    /// The result, or why the call failed.
    pub result: String,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl ToolUse {
    /// Creates the use of a tool from a call and its result.
    pub fn new(call: &ToolCall, result: Result<String, String>) -> Self {
        Self {
            name: call.name().to_owned(),
            arguments: call.arguments().to_owned(),
            failed: result.is_err(),
            result: result.unwrap_or_else(|problem| problem),
        }
    }

    /// Returns the result as a message to the model.
    pub fn message(&self, call: &ToolCall) -> Message {
        if self.failed {
            Message::tool_failure(call, self.result.as_str())
        } else {
            Message::tool_result(call, self.result.as_str())
        }
    }
}

impl<'t> ToolCalls<'t> {
    /// Creates the calls of a step. `asker` is what wants to make them, such as `the agent`, for the
    /// person who is asked.
    pub fn new(tools: &'t Tools, asker: impl Into<String>) -> Self {
        Self {
            tools,
            asker: asker.into(),
            waiting: AtomicUsize::default(),
            running: AtomicUsize::default(),
        }
    }

    /// Makes the calls of a reply concurrently, and returns their results in order. `round` is the
    /// number of the reply among those with calls, from 1.
    ///
    /// # Errors
    ///
    /// Returns an error if a person has to be asked, and the run can't wait for the answer.
    pub async fn make(
        &self,
        response: &ChatResponse,
        round: u32,
        meter: &Meter,
    ) -> Result<Vec<ToolUse>, CannotWait> {
        let calls = response.tool_calls().iter().enumerate();
        let results = calls.map(|(index, call)| async move {
            let admitted = self.tools.admit(index, response.finish_reason());
            let result = match admitted {
                Ok(()) => {
                    let number = format!("{round}.{}", index + 1);
                    self.approved(call, &number, meter).await?
                }
                Err(error) => Err(error.to_string()),
            };
            Ok(ToolUse::new(call, result))
        });

        try_join_all(results).await
    }

    /// Returns whether calls wait for a person, and none is in progress. The run pauses then.
    pub fn are_waiting(&self) -> bool {
        let waiting = self.waiting.load(Ordering::Relaxed);
        let running = self.running.load(Ordering::Relaxed);
        waiting > 0 && running == 0
    }

    /// Makes a call once a person has approved it, if that is necessary.
    async fn approved(
        &self,
        call: &ToolCall,
        number: &str,
        meter: &Meter,
    ) -> Result<Result<String, String>, CannotWait> {
        // A call that fails in any case is neither asked about nor recorded.
        let input = match self.tools.input_of(call) {
            Ok(input) => Value::Object(input),
            Err(_) => return Ok(self.reported(call).await),
        };

        meter.count_tool_call();
        if self.tools.need_approval(call.name()) {
            let refusal = counted(&self.waiting, self.refusal(call.name(), &input, number));
            if let Some(refusal) = refusal.await? {
                return Ok(Err(refusal));
            }
        }
        Ok(counted(&self.running, self.recorded(call, number)).await)
    }

    /// Waits for a person's answer. Returns the message to the model if the call is refused.
    async fn refusal(
        &self,
        tool: &str,
        input: &Value,
        number: &str,
    ) -> Result<Option<String>, CannotWait> {
        // The parsed arguments, because the text may contain a key twice.
        let arguments = Escaped::new(input).with_max_chars(MAX_ARGUMENTS);
        let asker = &self.asker;
        let reason = format!("{asker} wants to call the tool `{tool}` with {arguments}");
        let reason = self.tools.hide_secrets(&reason);

        let event = scoped_event(&format!("approve {tool} {number}"));
        let answer = wait_for::<ToolApproval>(&event, &reason, None).await?;
        Ok(answer.and_then(|answer| answer.refusal()))
    }

    async fn recorded(&self, call: &ToolCall, number: &str) -> Result<String, String> {
        let what = format!("tool {number} {}", call.name());
        let label = call_label(&what, &call.arguments());
        let outcome = recorded(&label, || async {
            Ok::<_, Infallible>(self.reported(call).await)
        });

        match outcome.await {
            Ok(result) => result,
            Err(CallError::Failed(never)) => match never {},
            Err(CallError::Recorded(problem)) => Err(problem),
        }
    }

    async fn reported(&self, call: &ToolCall) -> Result<String, String> {
        note(|| format!("calling the tool `{}`", Name(call.name())));
        let input = || call.arguments().to_owned();
        let made = report_tool_call(call.id(), call.name(), input, self.tools.call(call));
        made.await.map_err(|error| error.to_string())
    }
}

/// Counts a future until it has returned. One that is dropped stays counted, because it is dropped
/// just before its step ends.
async fn counted<T>(count: &AtomicUsize, future: impl Future<Output = T>) -> T {
    count.fetch_add(1, Ordering::Relaxed);
    let returned = future.await;
    count.fetch_sub(1, Ordering::Relaxed);

    returned
}
