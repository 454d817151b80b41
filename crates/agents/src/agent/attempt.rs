//! A visit of an agent: its draft, the thinking modes that work on it, and the answer.

use cogwork_flow::engine::reach_limit;
use cogwork_flow::{Action, Node};
use cogwork_llm::{ChatRequest, ChatResponse, FinishReason, Message, ToolChoice};
use cogwork_thinking::Report;
use cogwork_typed::ask::{
    Asking, Format, Limit, Meter, Policy, ToolCalls, ToolUse, Unanswered, Verdict,
};

use super::expected::{Unusable, not_empty};
use super::{Agent, AgentAnswer, AgentError, AgentErrorKind};
use crate::{Output, Visit};

impl Agent {
    pub(super) async fn visit(
        &self,
        request: &ChatRequest,
        meter: &Meter,
    ) -> Result<AgentAnswer, AgentError> {
        let mut attempt = Attempt {
            agent: self,
            meter: meter.share(),
            visit: Visit::of(&self.id),
        };
        let answer = attempt.answer(request).await;

        let mut visit = attempt.visit;
        // Read after the thinking modes, whose calls the meter counts as well.
        visit.spent = attempt.meter.spent();
        match answer {
            Ok((output, action)) => {
                let visit = visit.with_output(output);
                Ok(AgentAnswer { visit, action })
            }
            Err(kind) => {
                // A tool that was called before isn't called again if the limit is raised.
                if let AgentErrorKind::Limit(_) | AgentErrorKind::TooManyToolCalls { .. } = kind {
                    reach_limit();
                }
                visit.error = Some(kind.to_string());
                Err(AgentError::new(kind, visit))
            }
        }
    }
}

/// An attempt at a visit.
struct Attempt<'a> {
    agent: &'a Agent,
    meter: Meter,
    /// The replies and tool calls so far.
    visit: Visit,
}

impl<'a> Attempt<'a> {
    async fn answer(&mut self, request: &ChatRequest) -> Result<(Output, Action), AgentErrorKind> {
        let agent = self.agent;
        let begun = agent.thinking.begin(&self.meter, request.clone());
        let begun = self.meter.limit(begun).await?;
        let generating = begun.map_err(AgentErrorKind::Client)?;

        // The modes may have changed the question.
        let mut draft = self.question(generating.request().clone(), read_draft);
        let formats = agent.formats(!agent.tools.is_empty());
        let drafted = self.ask(&mut draft, formats, agent.asks_again).await;
        self.visit.tools = std::mem::take(&mut draft.used);
        let drafted = drafted?;

        let mut request = draft.conversation();
        let ended = generating.end(request.clone(), drafted);
        let ended = self.meter.limit(ended).await?;
        let generation = ended.map_err(AgentErrorKind::Client)?;
        let (response, report) = (generation.response, generation.report);
        let mut output = Output {
            blocks: generation.blocks,
            truncated: is_truncated(&response),
            thinking: Some(report).filter(has_content),
            ..Output::default()
        };

        let unusable = match agent.expected.answer(response.text()) {
            Ok((text, action)) => return Ok((Output { text, ..output }, action)),
            Err(unusable) => unusable,
        };
        if let Some(last) = self.visit.tries.last_mut() {
            last.complaint = Some(unusable.problem);
        }
        // The conversation continues, so that the model corrects its answer and doesn't begin anew.
        request.push(response.message());
        request.push(Message::user(unusable.complaint));

        // The draft counts as the first reply, and has called all tools that it needed.
        let corrected = match agent.asks_again.checked_sub(1) {
            Some(more) => {
                let mut question = self.question(request, read_correction);
                question.rounds = agent.tool_rounds;
                self.ask(&mut question, agent.formats(false), more).await
            }
            None => Err(unusable.kind),
        };

        let is_value = agent.expected.value.is_some();
        output.text = response.into_text();
        match corrected {
            // A text is complete without its action; a value has been written anew.
            Ok((text, action, truncated)) if is_value => {
                let output = Output {
                    text,
                    truncated,
                    ..output
                };
                Ok((output, action))
            }
            Ok((_, action, _)) => Ok((output, action)),
            // An action isn't missing if it needn't be named.
            Err(AgentErrorKind::NoAction { .. }) if agent.actions().contains(&Action::DEFAULT) => {
                Ok((output, Action::DEFAULT))
            }
            Err(kind) => Err(kind),
        }
    }

    /// Returns a question to the model. `read` returns what a reply says, if it can be used.
    fn question<R>(
        &self,
        request: ChatRequest,
        read: fn(&Agent, ChatResponse) -> Result<R, Unusable>,
    ) -> Question<'a, R> {
        Question {
            agent: self.agent,
            meter: self.meter.share(),
            calls: ToolCalls::new(&self.agent.tools, "the agent"),
            request,
            read,
            follow_up: Vec::new(),
            used: Vec::new(),
            rounds: 0,
        }
    }

    /// Returns what a reply says that can be used, and adds all replies to the visit.
    async fn ask<R: Send>(
        &mut self,
        question: &mut Question<'a, R>,
        formats: Vec<Format>,
        asks_again: u32,
    ) -> Result<R, AgentErrorKind> {
        let agent = self.agent;
        let mut asking = Asking::new(agent.thinking.client(), &agent.refused, formats)
            .with_meter(&self.meter)
            .with_asks_again(asks_again);

        let asked = self.meter.limit(asking.run(question)).await;
        // Also the replies to a question that a limit has ended.
        self.visit.tries.extend(asking.into_log().tries);

        asked?.map_err(|unanswered| match unanswered {
            Unanswered::Client(error) => AgentErrorKind::Client(error),
            Unanswered::Unusable(problem) => problem.kind,
            Unanswered::Stopped(kind) => kind,
        })
    }
}

fn is_truncated(response: &ChatResponse) -> bool {
    let reason = response.finish_reason();
    matches!(reason, FinishReason::Length | FinishReason::ContentFilter)
}

/// Returns whether thinking modes or a memory have taken part.
fn has_content(report: &Report) -> bool {
    !report.hooks.is_empty() || !report.memory.is_empty() || !report.memory_failures.is_empty()
}

/// Returns a draft. Thinking modes may still change it, so it needn't be readable yet.
fn read_draft(_: &Agent, response: ChatResponse) -> Result<ChatResponse, Unusable> {
    not_empty(response.text(), response.finish_reason())?;
    Ok(response)
}

/// Returns the text and the action of a corrected answer, and whether it is cut off.
fn read_correction(
    agent: &Agent,
    response: ChatResponse,
) -> Result<(String, Action, bool), Unusable> {
    let (text, action) = agent.expected.answer(response.text())?;
    Ok((text, action, is_truncated(&response)))
}

/// A question to the model.
struct Question<'a, R> {
    agent: &'a Agent,
    meter: Meter,
    calls: ToolCalls<'a>,
    request: ChatRequest,
    read: fn(&Agent, ChatResponse) -> Result<R, Unusable>,
    /// The messages of the tool calls so far, and of their results.
    follow_up: Vec<Message>,
    used: Vec<ToolUse>,
    /// The number of replies with tool calls.
    rounds: u32,
}

type Judged<R> = Verdict<R, Unusable, AgentErrorKind>;

impl<R> Question<'_, R> {
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

    async fn call_tools(&mut self, response: &ChatResponse) -> Judged<R> {
        if !self.may_call() {
            let rounds = self.agent.tool_rounds;
            return unusable(Unusable {
                kind: AgentErrorKind::TooManyToolCalls { rounds },
                problem: "the reply calls tools after the last round".to_owned(),
                complaint: "No further tool can be called. Write your answer.".to_owned(),
            });
        }

        self.rounds += 1;
        let made = self.calls.make(response, self.rounds, &self.meter).await;
        let made = match made {
            Ok(made) => made,
            Err(error) => return Verdict::Stop(AgentErrorKind::CannotWait(error)),
        };

        let results = made.iter().zip(response.tool_calls());
        let results = results.map(|(used, call)| used.message(call));
        let messages: Vec<_> = std::iter::once(response.message()).chain(results).collect();
        self.used.extend(made);
        // Kept for the thinking modes, which continue the conversation.
        self.follow_up.extend(messages.iter().cloned());
        Verdict::Continue {
            problem: None,
            messages,
        }
    }
}

impl<R: Send> Policy for Question<'_, R> {
    type Reply = R;
    type Problem = Unusable;
    type Stop = AgentErrorKind;

    fn request(&self, format: Format) -> ChatRequest {
        let request = self.agent.expected.request(self.request.clone(), format);
        if self.may_call() || self.agent.tools.is_empty() {
            request
        } else {
            // The tools stay in the request, because the conversation contains calls of them.
            request.with_tool_choice(ToolChoice::None)
        }
    }

    async fn judge(&mut self, response: &ChatResponse, _: Format) -> Judged<R> {
        // The thinking is not part of the answer.
        let response = response.clone().separate_thinking();
        if !response.tool_calls().is_empty() {
            return self.call_tools(&response).await;
        }

        match (self.read)(self.agent, response) {
            Ok(reply) => Verdict::Usable(reply),
            Err(problem) => unusable(problem),
        }
    }
}

fn unusable<R>(problem: Unusable) -> Judged<R> {
    let message = Message::user(problem.complaint.as_str());
    Verdict::Unusable { problem, message }
}

impl From<Limit> for AgentErrorKind {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}
