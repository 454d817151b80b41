use std::time::Duration;

use cogwork_flow::engine::{CannotWait, Json, scoped_event, wait_for};
use cogwork_flow::watch::report_from;
use cogwork_llm::{ChatResponse, FinishReason, Message, ToolCall};
use cogwork_text::Escaped;
use cogwork_tools::{ToolApproval, ToolError, Tools};
use futures_util::stream::FuturesUnordered;
use futures_util::{Stream, TryStreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::ask::record_call::record;
use crate::ask::{Meter, ToolEvent, call_label};

/// The source of the reports about tools.
const SOURCE: &str = "tool";

/// The maximum number of calls of one reply that are made.
const MAX_CALLS: usize = 16;

/// The maximum number of characters of the arguments that a person is asked about.
const MAX_ARGUMENTS: usize = 4_000;

/// The tool calls of a step: approved by a person if their tool [needs it](Tools::with_approval),
/// recorded, and reported as [events](ToolEvent) of the run.
///
/// In a [composite](cogwork_flow::Node::is_composite) node of a run with a journal, each result is
/// recorded, and a resumed run uses the recorded ones.
pub struct ToolCalls<'t> {
    tools: &'t Tools,
    asker: String,
    tell: Option<Tell<'t>>,
}

type Tell<'t> = Box<dyn Fn(ToolEvent) + Send + Sync + 't>;

/// The result of a call, or why it failed.
type Outcome = Result<String, String>;

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
            tell: None,
        }
    }

    /// Sets what receives the events of the calls instead of the run.
    #[must_use]
    pub fn with_events(mut self, tell: impl Fn(ToolEvent) + Send + Sync + 't) -> Self {
        self.tell = Some(Box::new(tell));
        self
    }

    /// Makes the calls of a reply concurrently, and returns their results in order. `round` is the
    /// number of the reply in the step, from 1. Calls of a truncated reply, and those after the first
    /// 16, fail.
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
        let calls = response.tool_calls();
        let made = self.begin(calls, response.finish_reason(), round, meter);

        let mut made: Vec<(usize, ToolUse)> = made.try_collect().await?;
        made.sort_unstable_by_key(|(index, _)| *index);
        Ok(made.into_iter().map(|(_, used)| used).collect())
    }

    /// Like [`make`](Self::make), but returns each result as soon as it is there, with the index of
    /// its call. `reason` is why the model stopped.
    pub fn begin<'c>(
        &'c self,
        calls: &'c [ToolCall],
        reason: &'c FinishReason,
        round: u32,
        meter: &'c Meter,
    ) -> impl Stream<Item = Result<(usize, ToolUse), CannotWait>> + Send + 'c {
        let running: FuturesUnordered<_> = calls
            .iter()
            .enumerate()
            .map(|(index, call)| async move {
                if let Some(problem) = not_admitted(index, reason) {
                    return Ok((index, (ToolUse::new(call, Err(problem)), Duration::ZERO)));
                }

                let number = format!("{round}.{}", index + 1);
                Ok((index, self.call(call, None, &number, meter).await?))
            })
            .collect();

        // The calls were made at the same time.
        let mut longest = Duration::ZERO;
        running.map_ok(move |(index, (used, replayed))| {
            meter.add_time(replayed.saturating_sub(longest));
            longest = longest.max(replayed);

            (index, used)
        })
    }

    /// Makes a call once a person has approved it, if that is necessary. An `input` is used instead
    /// of its arguments, and needn't be an object. `number` is what distinguishes the call from
    /// others of the step. Returns how long the call took, too, if its recorded result was used.
    ///
    /// # Errors
    ///
    /// Returns an error if a person has to be asked, and the run can't wait for the answer.
    pub async fn call(
        &self,
        call: &ToolCall,
        input: Option<Value>,
        number: &str,
        meter: &Meter,
    ) -> Result<(ToolUse, Duration), CannotWait> {
        meter.count_tool_call();
        let needs_approval = self.tools.need_approval(call.name());
        let input = input.map_or_else(|| self.tools.input_of(call), Ok);
        let input = input.and_then(|input| {
            // Nobody should be asked about a call that is bound to fail.
            if needs_approval {
                self.tools.check(call.name(), &input)?;
            }
            Ok(input)
        });

        if needs_approval
            && let Ok(input) = &input
            && let Some(refusal) = self.refusal(call.name(), input, number).await?
        {
            return Ok((ToolUse::new(call, Err(refusal)), Duration::ZERO));
        }

        let what = format!("tool {number} {}", call.name());
        let label = call_label(&what, &call.arguments());
        let work = async {
            let (name, id) = (call.name(), call.id());
            self.tools.call_with(name, Some(id), input?).await
        };
        // A failure is a result for the model, which goes on with it.
        let made = record(&label, |_| false, || self.reported(call, work), Err).await;
        if made.is_counted {
            meter.take_tool_call_back();
        }
        Ok((ToolUse::new(call, made.result), made.replayed))
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
        // The reason is shown to people, and kept in the journal.
        let reason = self.tools.hide_secrets(&reason);

        let event = scoped_event(&format!("approve {tool} {number}"));
        let schema = Json::of(&ToolApproval::schema()).ok();
        let answer = wait_for::<ToolApproval>(&event, &reason, None, schema.as_ref()).await?;
        Ok(answer.and_then(|answer| answer.refusal()))
    }

    async fn reported(
        &self,
        call: &ToolCall,
        work: impl Future<Output = Result<String, ToolError>>,
    ) -> Outcome {
        self.tell(|| ToolEvent::ToolCall {
            id: call.id().to_owned(),
            name: call.name().to_owned(),
            input: call.arguments().to_owned(),
        });

        let started = Instant::now();
        let outcome = work.await.map_err(|error| error.to_string());

        self.tell(|| ToolEvent::ToolResult {
            id: call.id().to_owned(),
            name: call.name().to_owned(),
            output: outcome.clone().unwrap_or_else(|problem| problem),
            failed: outcome.is_err(),
            took: started.elapsed(),
        });
        outcome
    }

    fn tell(&self, event: impl FnOnce() -> ToolEvent) {
        match &self.tell {
            Some(tell) => tell(event()),
            None => report_from(SOURCE, event),
        }
    }
}

/// Returns why a call of a reply isn't made, given its index and why the model stopped. A call in a
/// truncated reply may be incomplete even if it can be read.
pub fn not_admitted(index: usize, reason: &FinishReason) -> Option<String> {
    let truncated = match reason {
        FinishReason::Length => "cut off at the limit of tokens",
        FinishReason::ContentFilter => "withheld in part by a filter",
        _ if index < MAX_CALLS => return None,
        _ => {
            return Some(format!(
                "too many calls in one reply; expected at most {MAX_CALLS}"
            ));
        }
    };

    Some(format!(
        "the reply with this call was {truncated}; expected a whole one"
    ))
}
