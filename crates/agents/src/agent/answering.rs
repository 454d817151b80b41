//! From a request to an answer: calls to the model and to tools.

use cogwork_flow::Action;
use cogwork_llm::backend::ResponseLimits;
use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, LlmErrorKind, Message, ToolCall,
    ToolChoice,
};
use cogwork_typed::ask::{Asking, Format, Limit, Meter, Policy, ToolUse, Unanswered, Verdict};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::attempt::Attempt;
use super::expected::{Expected, Unusable, not_empty};
use super::{Agent, AgentErrorKind};
use crate::Output;

/// The maximum number of tool calls of a reply. If there are more, the visit fails.
const MAX_CALLS: usize = 1_000;

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Agent<T> {
    /// Asks for the answer, lets the thinking modes work on it, and reads it.
    pub(super) async fn answer(
        &self,
        request: ChatRequest,
        attempt: &Attempt<'_>,
    ) -> Result<(Output, Action), AgentErrorKind> {
        let thinking = self.settings.thinking.begin_with(&attempt.meter, request);
        let generating = thinking.await.map_err(AgentErrorKind::Client)?;

        let mut question = Question::new(self, attempt, generating.request().clone());
        // The generation measures its calls itself.
        let uncounted = Meter::default();
        let asked = question.ask(&generating, &uncounted, self.settings.asks_again);
        let draft = asked.await?;
        let mut request = question.conversation();

        let ended = generating.end(request.clone(), draft).await;
        let generation = ended.map_err(AgentErrorKind::Client)?;
        let response = generation.response;
        let thinking = Some(generation.report).filter(|report| {
            !(report.hooks.is_empty()
                && report.memory.is_empty()
                && report.memory_failures.is_empty())
        });
        let mut output = Output {
            blocks: generation.blocks,
            thinking,
            truncated: is_truncated(&response),
            ..Output::default()
        };

        let unusable = match self.expected.answer(response.text()) {
            Ok((text, action)) => {
                output.text = text;
                return Ok((output, action));
            }
            Err(unusable) => unusable,
        };
        attempt.complain(&unusable.problem);
        request.push(response.message());
        request.push(Message::user(unusable.complaint));

        // Tool calls are no longer allowed at this point, and the answer was the first attempt.
        let asked = match self.settings.asks_again.checked_sub(1) {
            Some(more) => {
                let request = request.with_tool_choice(ToolChoice::None);
                let mut question = Question::new(self, attempt, request);
                question.is_end = true;
                let client = self.settings.thinking.client();
                question.ask(client, &attempt.meter, more).await
            }
            None => Err(unusable.kind),
        };

        output.text = response.into_text();
        self.completed(output, asked)
    }

    /// Completes an answer with what the model said when it was asked for what was missing in it.
    fn completed(
        &self,
        mut output: Output,
        asked: Result<ChatResponse, AgentErrorKind>,
    ) -> Result<(Output, Action), AgentErrorKind> {
        let response = match asked {
            Ok(response) => response,
            // An action isn't missing if it needn't be named.
            Err(AgentErrorKind::NoAction { .. }) if self.actions().contains(&Action::DEFAULT) => {
                return Ok((output, Action::DEFAULT));
            }
            Err(kind) => return Err(kind),
        };

        let answer = self.expected.answer(response.text());
        let (text, action) = answer.map_err(|unusable| unusable.kind)?;
        if let Expected::Value(_) = self.expected {
            output.text = text;
            output.truncated = is_truncated(&response);
        }
        Ok((output, action))
    }
}

fn is_truncated(response: &ChatResponse) -> bool {
    let reason = response.finish_reason();
    matches!(reason, FinishReason::Length | FinishReason::ContentFilter)
}

/// What the model is asked, and how its replies are judged.
struct Question<'a, T> {
    agent: &'a Agent<T>,
    attempt: &'a Attempt<'a>,
    request: ChatRequest,
    /// The tool calls so far, and their results.
    follow_up: Vec<Message>,
    /// The number of replies with tool calls.
    rounds: u32,
    /// Whether replies must be readable, since no thinking mode changes them.
    is_end: bool,
    /// Why no further call is made.
    stopped: Option<AgentErrorKind>,
}

impl<'a, T: JsonSchema + DeserializeOwned + Send + 'static> Question<'a, T> {
    fn new(agent: &'a Agent<T>, attempt: &'a Attempt<'a>, request: ChatRequest) -> Self {
        Self {
            agent,
            attempt,
            request,
            follow_up: Vec::new(),
            rounds: 0,
            is_end: false,
            stopped: None,
        }
    }

    /// Asks until a reply can be used.
    async fn ask(
        &mut self,
        client: &dyn LlmClient,
        meter: &Meter,
        asks_again: u32,
    ) -> Result<ChatResponse, AgentErrorKind> {
        let agent = self.agent;
        let has_tools = !agent.settings.tools.is_empty() && !self.is_end;
        let formats = agent.expected.formats(client.capabilities(), has_tools);

        let mut asking = Asking::new(client, &agent.settings.refused, formats)
            .with_meter(meter)
            .with_asks_again(asks_again)
            // The client records its calls, including those of hooks, under the hash of the request.
            .with_recording(false);

        match asking.run(self).await {
            Ok(response) => Ok(response),
            Err(Unanswered::Unusable(unusable)) => Err(unusable.kind),
            Err(Unanswered::Stopped(kind)) => Err(kind),
            Err(Unanswered::Client(error)) => Err(AgentErrorKind::Client(error)),
        }
    }

    /// Returns the request with the tool calls and their results.
    fn conversation(self) -> ChatRequest {
        let mut request = self.request;
        for message in self.follow_up {
            request.push(message);
        }
        request
    }

    fn may_call(&self) -> bool {
        !self.is_end && self.rounds < self.agent.settings.tool_rounds
    }

    async fn call_tools(&mut self, response: &ChatResponse) -> Verdict<ChatResponse, Unusable> {
        let limits = ResponseLimits::default().with_tool_calls(MAX_CALLS);
        if let Err(error) = limits.check(response) {
            return self.stop(AgentErrorKind::Client(error.into()));
        }

        if !self.may_call() {
            let reason = "the call was not made, because of the limit of rounds".to_owned();
            let not_made = |call: &ToolCall| ToolUse::new(call, Err(reason.clone()));
            self.attempt
                .keep_tools(response.tool_calls().iter().map(not_made));

            let rounds = self.agent.settings.tool_rounds;
            return self.unusable(Unusable {
                kind: AgentErrorKind::TooManyToolCalls { rounds },
                problem: "the reply calls tools after the last round".to_owned(),
                complaint: "No further tool can be called. Write your answer.".to_owned(),
            });
        }

        self.rounds += 1;
        let calls = &self.attempt.calls;
        let made = calls.make(response, self.rounds, &self.attempt.meter);
        let made = match made.await {
            Ok(made) => made,
            Err(error) => return self.stop(AgentErrorKind::CannotWait(error)),
        };

        let results = made.iter().zip(response.tool_calls());
        let results = results.map(|(used, call)| used.message(call));
        let messages: Vec<_> = std::iter::once(response.message()).chain(results).collect();
        self.attempt.keep_tools(made);
        self.follow_up.extend(messages.iter().cloned());
        Verdict::Continue { messages }
    }

    fn unusable(&self, problem: Unusable) -> Verdict<ChatResponse, Unusable> {
        self.attempt.complain(&problem.problem);
        let message = Message::user(problem.complaint.as_str());
        Verdict::Unusable { problem, message }
    }

    /// Ends the asking before the next call.
    fn stop(&mut self, kind: AgentErrorKind) -> Verdict<ChatResponse, Unusable> {
        self.stopped = Some(kind);
        Verdict::Continue {
            messages: Vec::new(),
        }
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Policy for Question<'_, T> {
    type Reply = ChatResponse;
    type Problem = Unusable;
    type Stop = AgentErrorKind;

    fn request(&self, format: Format) -> ChatRequest {
        let request = self.request.clone();
        let request = match self.agent.expected.reply_format(format) {
            Some(format) => request.with_format(format),
            None => request,
        };

        if self.may_call() || self.agent.settings.tools.is_empty() {
            request
        } else {
            request.with_tool_choice(ToolChoice::None)
        }
    }

    fn fit(
        &mut self,
        meter: &Meter,
        request: ChatRequest,
        _: Format,
    ) -> Result<ChatRequest, AgentErrorKind> {
        match self.stopped.take() {
            Some(kind) => Err(kind),
            None => Ok(meter.fit(request, 1)?),
        }
    }

    async fn judge(
        &mut self,
        response: &ChatResponse,
        _: Format,
    ) -> Verdict<ChatResponse, Unusable> {
        self.attempt.keep_reply(response.text());
        // The thinking is not part of the answer.
        let response = response.clone().separate_thinking();
        if !response.tool_calls().is_empty() && !self.is_end {
            return self.call_tools(&response).await;
        }

        let read = if self.is_end {
            self.agent.expected.answer(response.text()).map(drop)
        } else {
            not_empty(response.text())
        };
        match read {
            Ok(()) => Verdict::Usable(response),
            Err(problem) => self.unusable(problem),
        }
    }
}

impl From<Limit> for AgentErrorKind {
    fn from(limit: Limit) -> Self {
        let message = format!("the limit of {limit} allows no further call");
        Self::Client(LlmError::new(LlmErrorKind::Budget, message))
    }
}
