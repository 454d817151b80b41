//! Decides whether a reply can be used, and builds the complaint if it can't.

use cogwork_llm::{ChatRequest, ChatResponse, FinishReason, LlmError, Message};
use cogwork_typed::ask::{AskLog, Format, Limit, Meter, Policy, Repair, Verdict, said};
use cogwork_typed::{AnswerProblem, AnswerProblemKind, GrowingText, Growth};

use crate::chain_of_thought::Calling;
use crate::error::Kind;
use crate::open_steps::open_steps;
use crate::reply::{
    fits, growing_thinking, read_reply, reply_format, thinking_so_far, with_excerpt,
};
use crate::turn::{Goal, Turn};
use crate::{EarlyEnd, Read, ReasoningEvent, Reply, Trace};

/// The replies of one turn so far, and what is wanted of the next one.
pub(crate) struct Replies<'a> {
    pub(crate) turn: &'a Turn,
    goal: Goal,
    /// The number of replies.
    pub(crate) tries: u32,
    /// How many more replies with tool calls are accepted.
    pub(crate) rounds_left: u32,
    pub(crate) trace: Trace,
    /// What is used if no better reply follows: the reply that ends the reasoning early, once the
    /// model has been asked about it, or the thinking of a conclusion that was cut off.
    fallback: Option<Read>,
    thinking: GrowingText<Reply>,
}

/// The problem of a reply that calls tools when none may be called.
const USED_UP: &str =
    "the reply calls tools, but no more tools may be called in this turn; expected a plan";

impl<'a> Replies<'a> {
    pub(crate) fn new(turn: &'a Turn) -> Self {
        let mut replies = Self {
            turn,
            goal: Goal::Thought,
            tries: 0,
            rounds_left: turn.node.tool_rounds,
            trace: Trace::default(),
            fallback: None,
            thinking: growing_thinking(),
        };
        replies.want_thought();
        replies
    }

    /// Asks for a thought next, or for tool calls before it if some are left.
    pub(crate) fn want_thought(&mut self) {
        self.goal = match (self.goal, self.rounds_left) {
            (Goal::Conclusion, _) => Goal::Conclusion,
            (_, 0) => Goal::Thought,
            _ => Goal::ThoughtOrCalls,
        };
    }

    /// Asks the model to conclude from now on.
    pub(crate) fn conclude(&mut self) {
        self.goal = Goal::Conclusion;
    }

    /// Returns whether the model may call tools in its next reply.
    pub(crate) fn may_call(&self) -> bool {
        self.goal == Goal::ThoughtOrCalls
    }

    /// Adds what happened in an asking.
    pub(crate) fn add(&mut self, log: AskLog) {
        self.trace.tries.extend(log.tries);
        self.trace.refusals.extend(log.refusals);
        self.trace.format = log.format;
    }

    /// Returns how the turn went so far.
    pub(crate) fn into_trace(self) -> Trace {
        Trace {
            spent: self.turn.meter.spent(),
            ..self.trace
        }
    }

    /// Returns what is used unless a better reply follows.
    pub(crate) fn take_fallback(&mut self) -> Option<Read> {
        let read = self.fallback.take()?;
        self.finish_thinking(&read);

        Some(read)
    }

    /// Reports what is missing of the text of the thought.
    fn finish_thinking(&mut self, read: &Read) {
        if !self.turn.node.is_followed() {
            return;
        }

        if let Some(growth) = self.thinking.finish(&read.reply.current_thinking) {
            emit_thinking(self.turn, growth);
        }
    }

    /// Reads a reply that calls no tools, or none that may be called.
    fn read(&self, response: &ChatResponse, format: Format) -> Result<Read, AnswerProblem> {
        let may_have_calls = self.turn.node.calling() == Calling::InReplies;
        let reason = response.finish_reason();
        read_reply(response.text(), reason, format, may_have_calls)
    }

    /// Returns the complaint about a reply that cannot be read.
    fn complain(
        &mut self,
        problem: AnswerProblem,
        response: &ChatResponse,
        format: Format,
    ) -> Verdict<Read, AnswerProblem, Kind> {
        let node = &self.turn.node;
        let is_part = matches!(
            problem.kind(),
            AnswerProblemKind::CutOff | AnswerProblemKind::Mismatch
        );

        match self.goal {
            // No other call follows a conclusion, so that whatever can be read is kept.
            Goal::Conclusion if is_part => {
                let part = self.readable_part(response.text());
                self.fallback = part.or(self.fallback.take());
            }
            // The next request has a format instead of tools.
            _ if node.calling() == Calling::Natively && format != Format::Text => {
                self.goal = Goal::Thought;
            }
            _ => {}
        }

        // A shorter reply only helps if this one was too long.
        let is_too_long = problem.kind() == AnswerProblemKind::CutOff
            && *response.finish_reason() == FinishReason::Length;
        let complaint = (!is_too_long).then(|| with_excerpt(&problem, response.text()));

        let message = self.ask_again(&node.prompts.unreadable, complaint, format);
        Verdict::Unusable { problem, message }
    }

    /// Returns the message that asks for a reply again, because of a complaint or because it was
    /// cut off.
    fn ask_again(&self, text: &str, complaint: Option<String>, format: Format) -> Message {
        let prompts = &self.turn.node.prompts;
        match complaint {
            Some(complaint) => prompts.message(text, format, &[("complaint", &complaint)]),
            None => prompts.message(&prompts.cut_off, format, &[]),
        }
    }

    /// Returns the thinking of a conclusion that can't be used, with the last plan, which comes after
    /// the thinking and is often what was cut off.
    fn readable_part(&self, text: &str) -> Option<Read> {
        let thinking = thinking_so_far(text)?;
        let thinking = Some(thinking).filter(|thinking| !thinking.trim().is_empty())?;

        Some(Read {
            reply: Reply {
                current_thinking: thinking,
                planning: self.turn.plan.clone()?,
                next_thought_needed: true,
            },
            repairs: Vec::new(),
        })
    }

    /// Returns the verdict on a reply that ends the reasoning while steps are not done.
    fn judge_early_end(
        &mut self,
        read: Read,
        open: &[String],
        response: &ChatResponse,
    ) -> Verdict<Read, AnswerProblem, Kind> {
        let problem = format!(
            "the reply ends the reasoning, but these steps of its plan are not done: {}",
            open.join("; ")
        );
        let problem = AnswerProblem::new(AnswerProblemKind::Check, 0, problem);

        let prompts = &self.turn.node.prompts;
        let steps = format!("- {}", open.join("\n- "));
        let values = [("open_steps", steps.as_str())];
        let message = prompts.message(&prompts.ended_early, Format::Text, &values);

        match self.turn.node.early_end {
            EarlyEnd::Refuse => Verdict::Unusable { problem, message },
            // Asked once: a model that repeats itself means it.
            EarlyEnd::Ask if self.fallback.is_none() => {
                self.fallback = Some(read);
                Verdict::Continue {
                    problem: Some(problem),
                    messages: vec![said(response), message],
                }
            }
            EarlyEnd::Ask | EarlyEnd::Accept => Verdict::Usable(read),
        }
    }

    /// Adds the format of the reply, with bounds that fit into the tokens of the reply.
    fn with_format(&self, request: ChatRequest, format: Format) -> Result<ChatRequest, Limit> {
        let node = &self.turn.node;
        let tools = match node.calling() {
            // Many servers refuse a format next to tools, or never call a tool then.
            Calling::Natively if self.may_call() => return Ok(request),
            Calling::InReplies if self.may_call() => {
                node.tools.names().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };

        // The reply has to repeat the plan.
        let plan = self.turn.plan.as_ref();
        let plan = plan.filter(|_| self.goal != Goal::Conclusion);
        // What is left of the tokens has become less since the turn began.
        if plan.is_some_and(|plan| !fits(plan, format, &request)) {
            let tokens = node.limits.tokens;
            return Err(Limit::Tokens(tokens.unwrap_or(u64::MAX)));
        }

        Ok(match reply_format(format, &request, &tools) {
            Some(format) => request.with_format(format),
            None => request,
        })
    }
}

impl Policy for Replies<'_> {
    type Reply = Read;
    type Problem = AnswerProblem;
    type Stop = Kind;

    fn request(&self, format: Format) -> ChatRequest {
        self.turn.request(format, self.goal)
    }

    fn fit(
        &mut self,
        meter: &Meter,
        request: ChatRequest,
        format: Format,
    ) -> Result<ChatRequest, Kind> {
        // The next reply begins anew.
        self.thinking.reset();
        let request = meter.fit(request, 1)?;
        Ok(self.with_format(request, format)?)
    }

    fn on_text(&mut self, text: &str) {
        let turn = self.turn;
        if !turn.node.is_followed() {
            return;
        }

        // Only for the reporter: the run has the pieces as its notes.
        turn.node.tell(&ReasoningEvent::ReplyPiece {
            thought: turn.thought_number,
            text: text.to_owned(),
        });
        if let Some(growth) = self.thinking.push(text) {
            emit_thinking(turn, growth);
        }
    }

    fn on_refusal(&mut self, format: Format, next: Format, error: &LlmError) {
        self.turn.node.emit(|| ReasoningEvent::FormatRefused {
            thought: self.turn.thought_number,
            refused: format,
            next,
            error: error.to_string(),
        });
    }

    async fn judge(
        &mut self,
        response: &ChatResponse,
        format: Format,
    ) -> Verdict<Read, AnswerProblem, Kind> {
        let reason = response.finish_reason();
        let prompts = &self.turn.node.prompts;
        self.tries = self.tries.saturating_add(1);
        self.want_thought();

        let calls = match self.wanted_calls(response) {
            Ok(calls) => calls,
            Err(problem) => {
                let is_whole = *reason != FinishReason::Length;
                let complaint = is_whole.then(|| with_excerpt(&problem, response.text()));
                let message = self.ask_again(&prompts.tools.unreadable, complaint, format);
                return Verdict::Unusable { problem, message };
            }
        };

        if !calls.is_empty() && self.may_call() {
            return match self.call_tools(response, &calls, format).await {
                Ok(messages) => Verdict::Continue {
                    problem: None,
                    messages,
                },
                Err(error) => Verdict::Stop(Kind::CannotWait(error)),
            };
        }

        let read = match self.read(response, format) {
            Ok(read) => read,
            // A model that goes on calling tools is told so, instead of being told that it wrote no
            // plan.
            Err(_) if !calls.is_empty() => {
                let problem = AnswerProblem::new(AnswerProblemKind::ToolCalls, 0, USED_UP);
                let message = prompts.message(&prompts.tools.used_up, format, &[]);
                return Verdict::Unusable { problem, message };
            }
            Err(problem) => return self.complain(problem, response, format),
        };

        self.finish_thinking(&read);

        match open_steps(&read.reply) {
            open if open.is_empty() || self.goal == Goal::Conclusion => Verdict::Usable(read),
            open => self.judge_early_end(read, &open, response),
        }
    }

    fn repairs<'r>(&self, read: &'r Read) -> &'r [Repair] {
        &read.repairs
    }

    fn on_ask_again(&mut self, problem: &AnswerProblem) {
        self.turn.node.emit(|| ReasoningEvent::AskingAgain {
            thought: self.turn.thought_number,
            problem: problem.to_string(),
        });
    }
}

fn emit_thinking(turn: &Turn, growth: Growth<'_>) {
    turn.node.emit(|| ReasoningEvent::Thinking {
        thought: turn.thought_number,
        text: growth.added.to_owned(),
        is_start: growth.is_start,
    });
}
