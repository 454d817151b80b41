//! Decides whether a reply can be used, and builds the complaint if it can't.

mod calls;

use cogwork_flow::journal::CannotWait;
use cogwork_llm::{ChatRequest, ChatResponse, FinishReason, LlmError};
use cogwork_typed::ask::{AskLog, Format, Limit, Meter, Policy, Repair, Verdict};
use cogwork_typed::{GrowingText, Growth};

use crate::brief::Wanted;
use crate::form::Form;
use crate::open_steps::OpenSteps;
use crate::reply::{fits, growing_thinking, reply_format};
use crate::tooling::Calling;
use crate::{
    Brief, ChainOfThought, EarlyEnd, Partial, Read, ReasoningEvent, Reply, ReplyProblem,
    ReplyProblemKind, ReplyReader, ToolCallRecord, Trace,
};

/// Judges the replies of one turn, within its limits.
pub(crate) struct Judge<'a> {
    node: &'a ChainOfThought,
    brief: &'a Brief,
    /// Whether the model is asked to conclude.
    concludes: bool,
    /// Whether the conclusion says that no further thought is needed.
    is_final: bool,
    /// The readable part of the last conclusion that was cut off.
    part: Option<Partial>,
    /// The reply that ends the reasoning early, once the model has been asked about it.
    early_end: Option<Read>,
    thinking: GrowingText<Reply>,
    /// The number of replies so far.
    tries: u32,
    /// How many more replies with tool calls are accepted.
    rounds_left: u32,
    tool_calls: Vec<ToolCallRecord>,
    /// Whether the next request has a response format instead of native tools, because the last
    /// reply could not be read.
    needs_format: bool,
    /// Why the run cannot wait for the approval of a tool call.
    cannot_wait: Option<CannotWait>,
}

/// Why a turn ends without a usable reply.
#[derive(Debug)]
pub(crate) enum Stop {
    Limit(Limit),
    CannotWait(CannotWait),
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

impl<'a> Judge<'a> {
    pub(crate) fn new(brief: &'a Brief) -> Self {
        Self {
            node: &brief.node,
            brief,
            concludes: false,
            is_final: false,
            part: None,
            early_end: None,
            thinking: growing_thinking(),
            tries: 0,
            rounds_left: brief.node.tooling.rounds,
            tool_calls: Vec::new(),
            needs_format: false,
            cannot_wait: None,
        }
    }

    /// Returns the reply that ends the reasoning early, if the model was asked about one.
    pub(crate) fn take_early_end(&mut self) -> Option<Read> {
        let read = self.early_end.take()?;
        self.finish_thinking(&read);

        Some(read)
    }

    /// Reports what is missing of the text of the thought.
    fn finish_thinking(&mut self, read: &Read) {
        if !self.node.is_followed() {
            return;
        }

        let growth = self.thinking.finish(&read.reply.current_thinking);
        let Some(growth) = growth else { return };

        emit_thinking(self.brief, growth);
    }

    /// Returns the trace of the turn so far, with the record of the last asking.
    pub(crate) fn trace(&mut self, record: AskLog) -> Trace {
        let tool_calls = std::mem::take(&mut self.tool_calls);
        Trace::new(record, tool_calls, self.brief.meter.spent())
    }

    /// Returns what the model is asked for in the next request.
    fn wanted(&self) -> Wanted {
        if self.concludes {
            Wanted::Conclusion
        } else if self.rounds_left > 0 && !self.needs_format {
            Wanted::ThoughtOrCalls
        } else {
            Wanted::Thought
        }
    }

    /// Returns whether the model may call tools in its next reply.
    fn may_call(&self) -> bool {
        self.wanted() == Wanted::ThoughtOrCalls
    }

    /// Reads a reply that calls no tools, or none that may be called.
    fn read(&self, response: &ChatResponse, form: Form) -> Result<Read, ReplyProblem> {
        let mut reader = ReplyReader::default()
            .with_reading(self.node.reading)
            .asked_for(form);
        if self.brief.calling == Calling::InReplies {
            reader = reader.with_calls();
        }

        reader.read_finished(response.text(), response.finish_reason())
    }

    /// Returns the complaint about a reply that cannot be read.
    fn complain(
        &mut self,
        problem: ReplyProblem,
        reason: &FinishReason,
        format: Format,
    ) -> Verdict<Read, ReplyProblem> {
        if self.concludes && problem.partial().is_some() {
            self.part = problem.partial().cloned();
        }

        let prompts = &self.node.prompts;
        let form = Form::from(format);

        // A shorter reply only helps if this one was too long.
        let is_too_long =
            problem.kind() == ReplyProblemKind::CutOff && *reason == FinishReason::Length;

        let message = if is_too_long {
            prompts.cut_off(form)
        } else {
            prompts.unreadable(&format!("{problem:#}"), form)
        };

        self.needs_format = self.brief.calling == Calling::Natively && format != Format::Text;
        Verdict::Unusable { problem, message }
    }

    /// Asks the model to conclude from now on, with what was kept for it.
    pub(crate) fn conclude(&mut self) {
        self.concludes = true;
        self.brief.meter.keep(None);
    }

    /// Returns the readable part of the last conclusion that was cut off.
    pub(crate) fn take_part(&mut self) -> Option<Partial> {
        self.part.take()
    }

    /// Returns whether the conclusion says that no further thought is needed.
    pub(crate) fn is_final(&self) -> bool {
        self.is_final
    }

    /// Adds the format of the reply, with bounds that fit into the tokens of the reply.
    fn with_format(&self, request: ChatRequest, format: Format) -> Result<ChatRequest, Limit> {
        if !self.brief.has_format(self.wanted()) {
            return Ok(request);
        }

        let plan = self.brief.plan.as_ref().filter(|_| !self.concludes);

        // The reply has to repeat the plan.
        if plan.is_some_and(|plan| !fits(plan, format, &request)) {
            let tokens = self.node.limits.tokens;
            return Err(Limit::Tokens(tokens.unwrap_or(u64::MAX)));
        }

        let tools = self.brief.tools_in_form(self.wanted());
        Ok(match reply_format(format, &request, tools) {
            Some(format) => request.with_format(format),
            None => request,
        })
    }

    /// Accepts a conclusion whatever it says about further thoughts, since none can follow.
    fn conclusion(&mut self, mut read: Read) -> Read {
        self.is_final = !read.reply.next_thought_needed;
        read.reply.next_thought_needed = false;
        read
    }

    fn judge_end(&mut self, read: Read, open: &OpenSteps) -> Verdict<Read, ReplyProblem> {
        let problem = open.problem();
        let message = self.node.prompts.ended_early(&open.lines());

        match self.node.early_end {
            EarlyEnd::Refuse => Verdict::Unusable { problem, message },
            EarlyEnd::Ask if self.early_end.is_none() => {
                self.early_end = Some(read);
                Verdict::Questionable { problem, message }
            }
            EarlyEnd::Ask | EarlyEnd::Accept => Verdict::Usable(read),
        }
    }
}

impl Policy for Judge<'_> {
    type Reply = Read;
    type Problem = ReplyProblem;
    type Stop = Stop;

    fn request(&self, format: Format) -> ChatRequest {
        self.brief.request(format, self.wanted())
    }

    fn fit(
        &mut self,
        meter: &Meter,
        request: ChatRequest,
        format: Format,
    ) -> Result<ChatRequest, Stop> {
        if let Some(error) = self.cannot_wait {
            return Err(Stop::CannotWait(error));
        }

        self.thinking.reset();
        let request = meter.fit(request, 1)?;
        Ok(self.with_format(request, format)?)
    }

    fn on_text(&mut self, text: &str) {
        if !self.node.is_followed() {
            return;
        }

        self.node.tell(&ReasoningEvent::ReplyPiece {
            thought: self.brief.thought_number,
            text: text.to_owned(),
        });
        if let Some(growth) = self.thinking.push(text) {
            emit_thinking(self.brief, growth);
        }
    }

    fn on_refusal(&mut self, format: Format, next: Format, error: &LlmError) {
        self.node.emit(|| ReasoningEvent::FormatRefused {
            thought: self.brief.thought_number,
            refused: format,
            next,
            error: error.to_string(),
        });
    }

    async fn judge(
        &mut self,
        response: &ChatResponse,
        format: Format,
    ) -> Verdict<Read, ReplyProblem> {
        let form = Form::from(format);
        self.tries = self.tries.saturating_add(1);
        self.needs_format = false;

        let calls = match self.wanted_calls(response) {
            Ok(calls) => calls,
            Err(problem) => {
                let prompts = &self.node.prompts;
                let message = if *response.finish_reason() == FinishReason::Length {
                    prompts.cut_off(form)
                } else {
                    prompts.unreadable_calls(&format!("{problem:#}"), form)
                };
                return Verdict::Unusable { problem, message };
            }
        };

        if !calls.is_empty() && self.may_call() {
            let messages = self.call_tools(response, &calls, form).await;
            return Verdict::Continue { messages };
        }

        let read = match self.read(response, form) {
            Ok(read) => read,
            Err(_) if !calls.is_empty() => {
                let problem = ReplyProblem::new(ReplyProblemKind::ToolCalls, USED_UP);
                let message = self.node.prompts.tools_used_up(form);
                return Verdict::Unusable { problem, message };
            }
            Err(problem) => return self.complain(problem, response.finish_reason(), format),
        };

        self.finish_thinking(&read);

        if self.concludes {
            return Verdict::Usable(self.conclusion(read));
        }

        match OpenSteps::left_by(&read.reply) {
            Some(open) => self.judge_end(read, &open),
            None => Verdict::Usable(read),
        }
    }

    fn repairs<'r>(&self, read: &'r Read) -> &'r [Repair] {
        &read.repairs
    }

    fn on_ask_again(&mut self, problem: &ReplyProblem) {
        self.node.emit(|| ReasoningEvent::AskingAgain {
            thought: self.brief.thought_number,
            problem: problem.to_string(),
        });
    }
}

fn emit_thinking(brief: &Brief, growth: Growth<'_>) {
    brief.node.emit(|| ReasoningEvent::Thinking {
        thought: brief.thought_number,
        text: growth.added().to_owned(),
        is_start: growth.is_start(),
    });
}

/// The problem of a reply that calls tools when none may be called.
const USED_UP: &str =
    "the reply calls tools, but no more tools may be called in this turn; expected a plan";
