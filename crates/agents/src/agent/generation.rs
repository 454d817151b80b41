//! From a request to an answer: calls to the model and to tools.

use std::convert::Infallible;

use cogwork_flow::Action;
use cogwork_flow::journal::recorded;
use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, Message, ResponseLimits, ToolCall, ToolChoice,
};
use cogwork_thinking::Generating;
use cogwork_typed::ask::{Meter, call_label, report_tool_call};
use futures_util::future::try_join_all;

use super::approval::Asked;
use super::attempt::Attempt;
use super::question::{Question, Unusable};
use super::{Agent, AgentAnswer, AgentErrorKind};
use crate::{Output, ToolUse};

/// The maximum number of tool calls of a reply. If there are more, the visit fails.
const MAX_CALLS: usize = 1_000;

impl Agent {
    pub(super) async fn generate(
        &self,
        request: ChatRequest,
        attempt: &Attempt<'_>,
    ) -> Result<AgentAnswer, AgentErrorKind> {
        let generating = self
            .thinking
            .begin_with(&attempt.meter, request)
            .await
            .map_err(AgentErrorKind::Client)?;

        let (request, draft) = self.draft(&generating, attempt).await?;
        let generation = generating
            .end(request.clone(), draft)
            .await
            .map_err(AgentErrorKind::Client)?;

        let reason = generation.response.finish_reason();
        let truncated = matches!(reason, FinishReason::Length | FinishReason::ContentFilter);
        let thinking = Some(generation.report).filter(|report| {
            !(report.hooks.is_empty()
                && report.memory.is_empty()
                && report.memory_failures.is_empty())
        });

        let said = generation.response.message();
        let output = Output {
            text: generation.response.into_text(),
            blocks: generation.blocks,
            thinking,
            truncated,
            ..Output::default()
        };
        self.choose(request, said, output, attempt).await
    }

    /// Asks for the answer, and makes the tool calls on the way.
    async fn draft(
        &self,
        generating: &Generating<'_>,
        attempt: &Attempt<'_>,
    ) -> Result<(ChatRequest, ChatResponse), AgentErrorKind> {
        let mut request = generating.request().clone();
        let limits = ResponseLimits::default().with_tool_calls(MAX_CALLS);

        for round in 0..=self.tool_rounds {
            // The generation measures its calls itself.
            let response = Question::new(request.clone(), not_empty, &Meter::default())
                .ask(generating, self.asks_again, attempt)
                .await
                .map_err(AgentErrorKind::Client)?
                .ok_or(AgentErrorKind::Empty)?;

            limits
                .check(&response)
                .map_err(|error| AgentErrorKind::Client(error.into()))?;

            if response.tool_calls().is_empty() {
                return Ok((request, response));
            }

            if round == self.tool_rounds {
                let reason = "the call was not made, because of the limit of rounds";
                let not_made = |call| used(call, reason.to_owned(), true);
                attempt.keep_tools(response.tool_calls().iter().map(not_made));
                break;
            }

            request.push(response.message());
            for (message, used) in self.call_tools(&response, round, attempt).await? {
                request.push(message);
                attempt.keep_tools([used]);
            }
        }

        Err(AgentErrorKind::TooManyToolCalls {
            rounds: self.tool_rounds,
        })
    }

    /// Takes the line with the action from the answer, or asks the model for one.
    async fn choose(
        &self,
        mut request: ChatRequest,
        said: Message,
        mut output: Output,
        attempt: &Attempt<'_>,
    ) -> Result<AgentAnswer, AgentErrorKind> {
        if !self.choice.is_open() {
            return Ok(AgentAnswer::new(output, Action::DEFAULT));
        }

        if let Some((before, action)) = self.choice.read(&output.text) {
            // The answer may consist only of this line.
            output.text = match before.is_empty() {
                true => action.as_str().to_owned(),
                false => before,
            };
            return Ok(AgentAnswer::new(output, action));
        }

        attempt.complain(NO_ACTION);
        request.push(said);
        request.push(Message::user(self.choice.complaint()));

        // Tool calls are no longer allowed at this point.
        let request = request.with_tool_choice(ToolChoice::None);
        let read = |response: ChatResponse| {
            let read = self.choice.read(response.text());
            read.map(|(_, action)| action).ok_or_else(|| Unusable {
                problem: NO_ACTION,
                complaint: self.choice.complaint(),
            })
        };
        let mut question = Question::new(request, read, &attempt.meter);

        // The answer counts as the first attempt.
        let chosen = match self.asks_again.checked_sub(1) {
            Some(more) => question.ask(self.thinking.client(), more, attempt).await,
            None => Ok(None),
        };

        match chosen
            .map_err(AgentErrorKind::Client)?
            .or_else(|| self.choice.fallback())
        {
            Some(action) => Ok(AgentAnswer::new(output, action)),
            None => Err(AgentErrorKind::NoAction {
                labels: self.choice.labels(),
            }),
        }
    }

    /// Makes the calls concurrently and returns the results in the order of the calls.
    async fn call_tools(
        &self,
        response: &ChatResponse,
        round: u32,
        attempt: &Attempt<'_>,
    ) -> Result<Vec<(Message, ToolUse)>, AgentErrorKind> {
        let reason = response.finish_reason();
        let calls = response.tool_calls().iter().enumerate();
        let results = calls.map(|(place, call)| async move {
            let number = format!("{}.{}", round + 1, place + 1);
            let result = match self.tools.admit(place, reason) {
                Ok(()) => self.call_tool(call, &number, attempt).await?,
                Err(error) => Err(error.to_string()),
            };

            Ok(answered(call, result))
        });

        try_join_all(results).await
    }

    /// Makes a call, once a person has approved it if necessary. `number` is the round and the
    /// place of the call.
    async fn call_tool(
        &self,
        call: &ToolCall,
        number: &str,
        attempt: &Attempt<'_>,
    ) -> Result<Result<String, String>, AgentErrorKind> {
        // Without a tool, there is nothing to record.
        if !self.tools.names().any(|name| name == call.name()) {
            return Ok(self.make(call).await);
        }

        if self.approval.covers(call.name())
            && let Ok(arguments) = self.tools.input_of(call)
        {
            let asked = Asked {
                tool: call.name(),
                arguments: &arguments,
                number,
            };
            let refusal = attempt.wait(self.approval.refusal(asked)).await;
            if let Some(refusal) = refusal.map_err(AgentErrorKind::CannotWait)? {
                return Ok(Err(refusal));
            }
        }

        let what = format!("tool {number} {}", call.name());
        let label = call_label(&what, &call.arguments());
        let outcome = recorded(&label, || async {
            Ok::<_, Infallible>(self.make(call).await)
        });

        Ok(match attempt.run(outcome).await {
            Ok(result) => result,
            Err(error) => Err(error.to_string()),
        })
    }

    async fn make(&self, call: &ToolCall) -> Result<String, String> {
        let input = || call.arguments().to_owned();
        let made = report_tool_call(call.id(), call.name(), input, self.tools.call(call));
        made.await.map_err(|error| error.to_string())
    }
}

/// Returns the result of a call for the model and for the output.
fn answered(call: &ToolCall, result: Result<String, String>) -> (Message, ToolUse) {
    let failed = result.is_err();
    let (text, message) = match result {
        Ok(text) => (text.clone(), Message::tool_result(call, text)),
        Err(problem) => (problem.clone(), Message::tool_failure(call, problem)),
    };

    (message, used(call, text, failed))
}

/// The complaint about a reply without an action.
const NO_ACTION: &str = "the reply names no action";

fn used(call: &ToolCall, result: String, failed: bool) -> ToolUse {
    ToolUse {
        name: call.name().to_owned(),
        arguments: call.arguments().to_owned(),
        result,
        failed,
    }
}

fn not_empty(response: ChatResponse) -> Result<ChatResponse, Unusable> {
    // Tool calls need no text.
    if !response.tool_calls().is_empty() || !response.text().trim().is_empty() {
        return Ok(response);
    }

    Err(Unusable {
        problem: "the reply is empty",
        complaint: "Your reply is empty. Write your answer.".to_owned(),
    })
}
