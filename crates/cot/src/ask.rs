//! The conversation of one turn: ask, and ask again where a form is refused or a reply cannot be used.

use std::sync::Arc;

use cogwork_flow::note;
use cogwork_llm::{Capability, ChatRequest, ChatResponse, Delta, FinishReason, LlmError, Message};
use tokio::time::Instant;

use crate::chain_of_thought::Brief;
use crate::error::Kind;
use crate::ladder::refuses_format;
use crate::open_steps::OpenSteps;
use crate::text::OneLine;
use crate::{
    ChainOfThought, EarlyEnd, Limit, Read, Refusal, ReplyProblem, ReplyProblemKind, Rung, Spent, Trace, Try,
};

impl ChainOfThought {
    /// Asks until a reply can be used. Replies that cannot are kept in the trace, and the
    /// complaint follows them in the conversation. A reply that ends early is kept in `early` while
    /// the model is asked about it.
    pub(crate) async fn ask(
        &self,
        brief: &Brief,
        started: Instant,
        trace: &mut Trace,
        early: &mut Option<Read>,
    ) -> Result<Read, Kind> {
        // The last one takes no refusal, and is there even for a node that stands beneath all others.
        let mut rungs = brief.rungs.iter().copied().filter(|rung| self.ladder.reaches(*rung));
        let mut rung = rungs.next().unwrap_or_default();
        let mut request = brief.request(rung);
        // Replies of this turn, and what was wrong with them.
        let mut said: Vec<Message> = Vec::new();
        let mut asks_left = self.limits.asks_again;
        loop {
            trace.rung = rung;
            let answer = self.response(brief.thought_number, request.clone()).await;
            if let Err(error) = &answer
                && refuses_format(error)
                && let Some(next) = rungs.next()
            {
                self.tell_refused(brief.thought_number, (rung, next), error, trace);
                rung = next;
                request = brief.request(rung);
                said.iter().for_each(|message| request.push(message.clone()));
                continue;
            }
            let refused_to_the_end = answer.as_ref().is_err_and(refuses_format);
            if !trace.refusals.is_empty() && !refused_to_the_end {
                self.ladder.stand_on(rung);
            }
            let response = answer.map_err(Kind::Client)?;
            count(&mut trace.spent, &request, &response);
            let verdict = self.judge(&response, rung, early.is_some());
            let text = response.into_text();
            let (problem, message, give_up) = match verdict {
                Verdict::Usable(read) => {
                    trace.tries.push(Try { reply: text, complaint: None });
                    return Ok(read);
                }
                Verdict::Questionable(read, problem, message) => {
                    *early = Some(read);
                    (problem, message, false)
                }
                Verdict::Unusable(problem, message) => {
                    let give_up = asks_left == 0;
                    asks_left = asks_left.saturating_sub(1);
                    (problem, message, give_up)
                }
            };
            for message in [Message::assistant(excerpt(&text)), message] {
                request.push(message.clone());
                said.push(message);
            }
            trace.tries.push(Try { reply: text, complaint: Some(problem.to_string()) });
            if give_up {
                return Err(Kind::Reply(problem));
            } else if trace.spent.tokens() >= brief.tokens_left {
                return Err(Kind::Limit(Limit::Tokens(self.limits.tokens)));
            } else if started.elapsed() >= brief.time_left {
                // The timeout around this loop sees no time pass while every call is ready at once.
                return Err(Kind::Limit(Limit::Time(self.limits.time)));
            }
            self.reporter.asking_again(brief.thought_number, &problem);
        }
    }

    fn tell_refused(
        &self,
        thought_number: u32,
        (rung, next): (Rung, Rung),
        error: &LlmError,
        trace: &mut Trace,
    ) {
        let line = OneLine(&error.to_string()).to_string();
        note(|| format!("{rung} is refused, asking by {next}: {line}"));
        self.reporter.format_refused(thought_number, rung, next, error);
        trace.refusals.push(Refusal { rung, error: line });
    }

    /// Calls the model, piece by piece where the client can, so that people see the thought grow.
    async fn response(&self, thought_number: u32, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        if !self.streaming || !self.client.capabilities().has(Capability::Streaming) {
            return self.client.complete(request).await;
        }
        let reporter = Arc::clone(&self.reporter);
        let look = move |piece: &Result<Delta, LlmError>| {
            if let Ok(Delta::Text(text)) = piece {
                reporter.delta(thought_number, text);
                note(|| text.clone());
            }
        };
        self.client.stream(request).await?.inspect(look).collect().await
    }

    fn judge(&self, response: &ChatResponse, rung: Rung, asked_about_end: bool) -> Verdict {
        let text = response.text();
        let reason = response.finish_reason();
        let reader = self.limits.reader(self.reading).asked_for_json(rung.is_json());
        let read = match reader.read_finished(text, reason) {
            Ok(read) => read,
            Err(problem) => {
                // Only of a reply that was too long is it known that a shorter one would help.
                let too_long = problem.kind() == ReplyProblemKind::CutOff && *reason == FinishReason::Length;
                let message = match too_long {
                    true => self.prompts.cut_off(rung.is_json()),
                    false => self.prompts.unreadable(&format!("{problem:#}"), rung.is_json()),
                };
                return Verdict::Unusable(problem, message);
            }
        };
        let Some(open) = OpenSteps::left_by(&read.reply) else { return Verdict::Usable(read) };
        let message = self.prompts.ended_early(&open.lines());
        match self.early_end {
            EarlyEnd::Ask if !asked_about_end => Verdict::Questionable(read, open.problem(), message),
            EarlyEnd::Ask | EarlyEnd::Accept => Verdict::Usable(read),
            EarlyEnd::Refuse => Verdict::Unusable(open.problem(), message),
        }
    }
}

/// What a response is good for; where it is not simply used, what is wrong and the message that
/// tells the model so.
enum Verdict {
    Usable(Read),
    /// Usable, but worth a question.
    Questionable(Read, ReplyProblem, Message),
    Unusable(ReplyProblem, Message),
}

/// Adds what a call cost.
fn count(spent: &mut Spent, request: &ChatRequest, response: &ChatResponse) {
    // Some servers report zeros for what they do not count.
    if let Some(usage) = response.usage().filter(|usage| usage.total_tokens() > 0) {
        spent.usage += usage;
    } else {
        let read: usize = request.messages().iter().map(|message| message.text().len()).sum();
        let bytes = read.saturating_add(response.text().len());
        spent.estimated_tokens = spent.estimated_tokens.saturating_add(bytes as u64 / 4);
    }
}

/// Characters of an unusable reply that the model is shown again.
const EXCERPT: usize = 4096;

/// An unusable reply as it stands in the conversation: its beginning, and never nothing, which
/// servers refuse as a message.
fn excerpt(reply: &str) -> String {
    let mut characters = reply.chars();
    let beginning: String = characters.by_ref().take(EXCERPT).collect();
    match characters.next() {
        None if beginning.trim().is_empty() => "(empty)".to_owned(),
        None => beginning,
        Some(_) => beginning + " […]",
    }
}
