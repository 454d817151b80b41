//! A visit of an agent: its draft, the thinking modes that work on it, and the answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cogwork_flow::engine::reach_limit;
use cogwork_flow::{Action, Node};
use cogwork_llm::{ChatRequest, ChatResponse, FinishReason, Message, ToolCall, ToolChoice};
use cogwork_thinking::Report;
use cogwork_typed::ask::{
    Asking, Format, Limit, Meter, Policy, Spent, ToolCalls, ToolUse, Unanswered, Verdict,
};

use super::expected::{Unusable, not_empty};
use super::{Agent, AgentAnswer, AgentError, AgentErrorKind, AgentQuestion};
use crate::state::Failed;
use crate::{Output, Visit};

impl Agent {
    pub(super) async fn visit(&self, question: &AgentQuestion) -> Result<AgentAnswer, AgentError> {
        let mut attempt = Attempt {
            meter: Meter::new(self.limits, Spent::default()),
            calls: ToolCalls::new(&self.tools, "the agent"),
            visit: Mutex::new(Visit::of(&self.id)),
            failed: &question.failed,
            has_ended: false,
        };

        let answer = self.answer(&question.request, &attempt);
        let answer = attempt.meter.limit(answer).await;
        let answer = answer.unwrap_or_else(|limit| Err(limit.into()));
        let mut visit = attempt.end();

        match answer {
            Ok((output, action)) => {
                self.expected.note_repairs(&output.text);
                let visit = visit.with_output(output);
                Ok(AgentAnswer { visit, action })
            }
            Err(kind) => {
                if let AgentErrorKind::Limit(_) = kind {
                    reach_limit();
                }
                visit.error = Some(kind.to_string());
                question.failed.add(visit.clone());
                Err(AgentError::new(kind, visit))
            }
        }
    }

    async fn answer(
        &self,
        request: &ChatRequest,
        attempt: &Attempt<'_>,
    ) -> Result<(Output, Action), AgentErrorKind> {
        let begun = self.thinking.begin(&attempt.meter, request.clone());
        let generating = begun.await.map_err(AgentErrorKind::Client)?;

        // The modes may have changed the question.
        let mut question = Question::new(self, attempt, generating.request().clone());
        let draft = question.ask(self.asks_again).await?;
        let mut request = question.conversation();

        let ended = generating.end(request.clone(), draft).await;
        let generation = ended.map_err(AgentErrorKind::Client)?;
        let (response, report) = (generation.response, generation.report);
        let output = Output {
            blocks: generation.blocks,
            truncated: is_truncated(&response),
            thinking: Some(report).filter(has_content),
            ..Output::default()
        };

        let unusable = match self.expected.answer(response.text()) {
            Ok((text, action)) => return Ok((Output { text, ..output }, action)),
            Err(unusable) => unusable,
        };
        if let Some(last) = attempt.visit().tries.last_mut() {
            last.complaint = Some(unusable.problem);
        }
        // The conversation continues, so that the model corrects its answer and doesn't begin anew.
        request.push(response.message());
        request.push(Message::user(unusable.complaint));

        // The draft counts as the first reply, and has called all tools that it needed.
        let asked = match self.asks_again.checked_sub(1) {
            Some(more) => {
                let request = request.with_tool_choice(ToolChoice::None);
                let mut question = Question::new(self, attempt, request);
                question.is_draft = false;
                question.ask(more).await
            }
            None => Err(unusable.kind),
        };

        let text = response.into_text();
        self.completed(Output { text, ..output }, asked)
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

        // A text is complete without its action; a value has been written anew.
        if self.expected.value.is_some() {
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

/// Returns whether thinking modes or a memory have taken part.
fn has_content(report: &Report) -> bool {
    let parts = [
        report.hooks.len(),
        report.memory.len(),
        report.memory_failures.len(),
    ];
    parts.iter().any(|count| *count > 0)
}

/// The calls of an attempt at a visit. If it is dropped before its end, it counts as failed.
struct Attempt<'v> {
    meter: Meter,
    calls: ToolCalls<'v>,
    /// The replies and tool calls so far.
    visit: Mutex<Visit>,
    failed: &'v Failed,
    has_ended: bool,
}

impl Attempt<'_> {
    /// A panic elsewhere cannot leave a visit inconsistent, so a poisoned lock is still usable.
    fn visit(&self) -> MutexGuard<'_, Visit> {
        self.visit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&mut self) -> Visit {
        self.has_ended = true;
        let mut visit = std::mem::take(&mut *self.visit());
        // Read after the thinking modes, whose calls the meter counts as well.
        visit.spent = self.meter.spent();
        visit
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        // A run that waits for a person continues the attempt later, and counts the calls then.
        if !self.has_ended && !self.calls.are_waiting() {
            let mut visit = self.end();
            visit.error = Some("the visit was stopped before its end".to_owned());
            self.failed.add(visit);
        }
    }
}

/// Adds the replies to the visit when it is dropped, because the visit may be stopped.
struct Kept<'a> {
    asking: Asking<'a>,
    attempt: &'a Attempt<'a>,
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        let tries = self.asking.log().tries.iter().cloned();
        self.attempt.visit().tries.extend(tries);
    }
}

/// What the model is asked, and how its replies are judged.
struct Question<'a> {
    agent: &'a Agent,
    attempt: &'a Attempt<'a>,
    request: ChatRequest,
    /// The messages of the tool calls so far, and of their results.
    follow_up: Vec<Message>,
    /// The number of replies with tool calls.
    rounds: u32,
    /// Whether thinking modes may still change the reply, so that it needn't be readable yet.
    is_draft: bool,
}

type Judged = Verdict<ChatResponse, Unusable, AgentErrorKind>;

impl<'a> Question<'a> {
    fn new(agent: &'a Agent, attempt: &'a Attempt<'a>, request: ChatRequest) -> Self {
        Self {
            agent,
            attempt,
            request,
            follow_up: Vec::new(),
            rounds: 0,
            is_draft: true,
        }
    }

    /// Returns a reply that can be used. All replies and tool calls are added to the visit.
    async fn ask(&mut self, asks_again: u32) -> Result<ChatResponse, AgentErrorKind> {
        let agent = self.agent;
        // Only a draft may call tools.
        let has_tools = self.is_draft && !agent.tools.is_empty();
        let asking = Asking::new(
            agent.thinking.client(),
            &agent.refused,
            agent.formats(has_tools),
        )
        .with_meter(&self.attempt.meter)
        .with_asks_again(asks_again);

        let attempt = self.attempt;
        let mut kept = Kept { asking, attempt };
        let asked = kept.asking.run(self).await;

        asked.map_err(|unanswered| match unanswered {
            Unanswered::Client(error) => AgentErrorKind::Client(error),
            Unanswered::Unusable(problem) => problem.kind,
            Unanswered::Stopped(kind) => kind,
        })
    }

    /// Returns the request with the tool calls and their results.
    fn conversation(&self) -> ChatRequest {
        let mut request = self.request.clone();
        // Complaints aren't part of it: thinking modes only see what led to the draft.
        for message in &self.follow_up {
            request.push(message.clone());
        }
        request
    }

    fn may_call(&self) -> bool {
        self.rounds < self.agent.tool_rounds
    }

    async fn call_tools(&mut self, response: &ChatResponse) -> Judged {
        if !self.may_call() {
            // Reported all the same, so that people see what the model wanted.
            let reason = "the call was not made, because of the limit of rounds".to_owned();
            let not_made = |call: &ToolCall| ToolUse::new(call, Err(reason.clone()));
            let not_made = response.tool_calls().iter().map(not_made);
            self.attempt.visit().tools.extend(not_made);

            let rounds = self.agent.tool_rounds;
            return unusable(Unusable {
                kind: AgentErrorKind::TooManyToolCalls { rounds },
                problem: "the reply calls tools after the last round".to_owned(),
                complaint: "No further tool can be called. Write your answer.".to_owned(),
            });
        }

        self.rounds += 1;
        let Attempt { meter, calls, .. } = self.attempt;
        let made = match calls.make(response, self.rounds, meter).await {
            Ok(made) => made,
            Err(error) => return Verdict::Stop(AgentErrorKind::CannotWait(error)),
        };

        let results = made.iter().zip(response.tool_calls());
        let results = results.map(|(used, call)| used.message(call));
        let messages: Vec<_> = std::iter::once(response.message()).chain(results).collect();
        self.attempt.visit().tools.extend(made);
        // Kept for the thinking modes, which continue the conversation.
        self.follow_up.extend(messages.iter().cloned());
        Verdict::Continue { messages }
    }
}

fn unusable(problem: Unusable) -> Judged {
    let message = Message::user(problem.complaint.as_str());
    Verdict::Unusable { problem, message }
}

impl Policy for Question<'_> {
    type Reply = ChatResponse;
    type Problem = Unusable;
    type Stop = AgentErrorKind;

    fn request(&self, format: Format) -> ChatRequest {
        let request = self.request.clone();
        let reader = self.agent.expected.value.as_ref();
        let request = match reader.and_then(|reader| reader.reply_format(format)) {
            Some(format) => request.with_format(format),
            None => request,
        };

        if self.may_call() || self.agent.tools.is_empty() {
            request
        } else {
            // The tools stay in the request, because the conversation contains calls of them.
            request.with_tool_choice(ToolChoice::None)
        }
    }

    async fn judge(&mut self, response: &ChatResponse, _: Format) -> Judged {
        // The thinking is not part of the answer.
        let response = response.clone().separate_thinking();
        if !response.tool_calls().is_empty() && self.is_draft {
            return self.call_tools(&response).await;
        }

        let read = match self.is_draft {
            true => not_empty(response.text()),
            false => self.agent.expected.answer(response.text()).map(drop),
        };
        match read {
            Ok(()) => Verdict::Usable(response),
            Err(problem) => unusable(problem),
        }
    }
}

impl From<Limit> for AgentErrorKind {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}
