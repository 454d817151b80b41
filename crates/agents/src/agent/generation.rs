//! From a request to an answer: calls of the model, and of the tools it asks for.

use cogwork_flow::{Action, note};
use cogwork_llm::{
    Capability, ChatRequest, ChatResponse, Delta, LlmError, Message, ToolCall, ToolChoice, Usage,
};
use futures_util::future::join_all;

use super::{Agent, AgentError, Answer};
use crate::ToolUse;

/// Calls that a reply may ask for at once; the rest are answered as failures, unmade.
const MAX_CALLS_AT_ONCE: usize = 16;

impl Agent {
    pub(super) async fn generate(&self, mut request: ChatRequest) -> Result<Answer, AgentError> {
        let (mut usage, mut tools) = (Usage::default(), Vec::new());
        let mut rounds = 0;
        let text = loop {
            let response = self.ask(request.clone(), &mut usage).await?;
            if response.tool_calls().is_empty() {
                if response.text().trim().is_empty() {
                    return Err(AgentError::Empty);
                }
                break response.into_text();
            } else if rounds == self.tool_rounds {
                return Err(AgentError::TooManyToolCalls { rounds });
            }
            rounds += 1;
            request.push(response.message());
            for (message, used) in self.call_tools(response.tool_calls()).await {
                request.push(message);
                tools.push(used);
            }
        };
        let (text, action) = self.choose(request, text, &mut usage).await?;
        Ok(Answer { text, action, tools, usage })
    }

    /// The reply without the line of its action, and the action.
    async fn choose(
        &self,
        mut request: ChatRequest,
        text: String,
        usage: &mut Usage,
    ) -> Result<(String, Action), AgentError> {
        if !self.choice.is_open() {
            return Ok((text, Action::DEFAULT));
        } else if let Some((before, action)) = self.choice.read(&text) {
            // A model that was told what it reads may answer with the line alone.
            return Ok((if before.is_empty() { action.as_str().to_owned() } else { before }, action));
        }
        request.push(Message::assistant(text.as_str()));
        request.push(Message::user(self.choice.complaint()));
        // Not the time for more tools.
        let response = self.ask(request.with_tool_choice(ToolChoice::None), usage).await?;
        let action = self.choice.read(response.text()).map(|(_, action)| action);
        match action.or_else(|| self.choice.fallback()) {
            Some(action) => Ok((text, action)),
            None => Err(AgentError::NoAction { labels: self.choice.labels() }),
        }
    }

    async fn ask(&self, request: ChatRequest, usage: &mut Usage) -> Result<ChatResponse, AgentError> {
        let response = self.response(request).await.map_err(AgentError::Client)?;
        *usage += response.usage().unwrap_or_default();
        Ok(response)
    }

    /// Calls the model, piece by piece where the client can, so that those who watch see it grow.
    async fn response(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        if !self.client.capabilities().has(Capability::Streaming) {
            return self.client.complete(request).await;
        }
        let look = |piece: &Result<Delta, LlmError>| {
            if let Ok(Delta::Text(text)) = piece {
                note(|| text.clone());
            }
        };
        self.client.stream(request).await?.inspect(look).collect().await
    }

    /// Side by side, and told in the order in which they were asked for.
    async fn call_tools(&self, calls: &[ToolCall]) -> Vec<(Message, ToolUse)> {
        join_all(calls.iter().enumerate().map(|(place, call)| async move {
            let result = if place < MAX_CALLS_AT_ONCE {
                self.tools.call(call).await.map_err(|error| error.to_string())
            } else {
                Err(format!("too many calls at once; expected at most {MAX_CALLS_AT_ONCE}"))
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
        }))
        .await
    }
}
