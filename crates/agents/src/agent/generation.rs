//! From a request to an answer: calls of the model, and of the tools it asks for.

use cogwork_ask::call;
use cogwork_flow::Action;
use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, Message, ResponseLimits,
    ToolChoice, Usage,
};
use futures_util::future::join_all;

use super::{Agent, AgentAnswer, AgentError};
use crate::{Output, ToolUse};

/// Calls that a reply may ask for at once; the rest are answered as failures, unmade.
const MAX_CALLS_AT_ONCE: usize = 16;

/// Calls that a reply may ask for at all. One with more is an error.
const MAX_CALLS: usize = 1_000;

impl Agent {
    pub(super) async fn generate(&self, request: ChatRequest) -> Result<AgentAnswer, AgentError> {
        let generating = self
            .thinking
            .begin(request)
            .await
            .map_err(AgentError::Client)?;

        let mut request = generating.request().clone();
        let mut tools = Vec::new();
        let mut rounds = 0;
        let limits = ResponseLimits::default().with_tool_calls(MAX_CALLS);
        let draft = loop {
            let response = ask(&generating, request.clone())
                .await
                .map_err(AgentError::Client)?;
            limits
                .check(&response)
                .map_err(|error| AgentError::Client(error.into()))?;

            if response.tool_calls().is_empty() {
                break response;
            } else if rounds == self.tool_rounds {
                return Err(AgentError::TooManyToolCalls { rounds });
            }

            rounds += 1;
            request.push(response.message());
            for (message, used) in self.call_tools(&response).await {
                request.push(message);
                tools.push(used);
            }
        };

        // Whatever thinking would make of nothing, it would not be what the model said.
        if draft.text().trim().is_empty() {
            return Err(AgentError::Empty);
        }

        let generation = generating
            .end(request.clone(), draft)
            .await
            .map_err(AgentError::Client)?;
        let blocks = generation.payload.blocks().to_vec();
        let mut usage = generation.response.usage().unwrap_or_default();
        let mut calls = generation.report.calls;
        let reason = generation.response.finish_reason();
        let truncated = matches!(reason, FinishReason::Length | FinishReason::ContentFilter);
        let thinking = Some(generation.report).filter(|report| {
            !(report.hooks.is_empty()
                && report.memory.is_empty()
                && report.memory_failures.is_empty())
        });

        let (text, action) = self
            .choose(
                request,
                generation.response.into_text(),
                &mut calls,
                &mut usage,
            )
            .await?;

        let output = Output {
            text,
            blocks,
            tools,
            thinking,
            truncated,
            calls,
            usage,
        };

        Ok(AgentAnswer { output, action })
    }

    /// The reply without the line of its action, and the action.
    async fn choose(
        &self,
        mut request: ChatRequest,
        text: String,
        calls: &mut u32,
        usage: &mut Usage,
    ) -> Result<(String, Action), AgentError> {
        if !self.choice.is_open() {
            return Ok((text, Action::DEFAULT));
        } else if let Some((before, action)) = self.choice.read(&text) {
            // A model that was told what it reads may answer with the line alone.
            return Ok((
                if before.is_empty() {
                    action.as_str().to_owned()
                } else {
                    before
                },
                action,
            ));
        }

        request.push(Message::assistant(text.as_str()));
        request.push(Message::user(self.choice.complaint()));

        // Not the time for more tools.
        let response = ask(
            self.thinking.client(),
            request.with_tool_choice(ToolChoice::None),
        )
        .await;

        let response = response.map_err(AgentError::Client)?;
        *calls = calls.saturating_add(1);
        *usage += response.usage().unwrap_or_default();
        let action = self.choice.read(response.text()).map(|(_, action)| action);

        match action.or_else(|| self.choice.fallback()) {
            Some(action) => Ok((text, action)),
            None => Err(AgentError::NoAction {
                labels: self.choice.labels(),
            }),
        }
    }

    /// Side by side, and told in the order in which they were asked for.
    async fn call_tools(&self, response: &ChatResponse) -> Vec<(Message, ToolUse)> {
        // What a call that is cut off would have said is not known, even where the rest can be read.
        let cut = match response.finish_reason() {
            FinishReason::Length => Some("cut off at the limit of tokens"),
            FinishReason::ContentFilter => Some("withheld in part by a filter"),
            _ => None,
        };
        join_all(
            response
                .tool_calls()
                .iter()
                .enumerate()
                .map(|(place, call)| async move {
                    let result = if let Some(cut) = cut {
                        Err(format!(
                            "the reply with this call was {cut}; expected a whole one"
                        ))
                    } else if place < MAX_CALLS_AT_ONCE {
                        self.tools
                            .call(call)
                            .await
                            .map_err(|error| error.to_string())
                    } else {
                        Err(format!(
                            "too many calls at once; expected at most {MAX_CALLS_AT_ONCE}"
                        ))
                    };

                    let used = |result: &str, failed| ToolUse {
                        name: call.name().to_owned(),
                        arguments: call.arguments().to_owned(),
                        result: result.to_owned(),
                        failed,
                    };

                    match result {
                        Ok(text) => {
                            let used = used(&text, false);
                            (Message::tool_result(call, text), used)
                        }
                        Err(problem) => {
                            let used = used(&problem, true);
                            (Message::tool_failure(call, problem), used)
                        }
                    }
                }),
        )
        .await
    }
}

/// Calls the model. What it thinks aloud is no part of its answer.
async fn ask(client: &dyn LlmClient, request: ChatRequest) -> Result<ChatResponse, LlmError> {
    let response = call(client, request, |_| {}).await?;
    Ok(response.separate_thinking())
}
