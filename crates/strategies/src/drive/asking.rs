//! Asking the model, one question or several side by side, within what is left of the budget.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_flow::note;
use cogwork_llm::{
    Capability, ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, Message, ToolCall,
};
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use super::work::Enough;
use super::{Ask, AskProblem, Asked, Budget, EndReason, Reply, Spent, Try};

/// Characters of an unusable reply that the model is shown again.
const EXCERPT: usize = 2048;

/// Calls of tools in one reply, and bytes of their names and arguments.
const MAX_CALLS: usize = 64;
const MAX_CALL_BYTES: usize = 256 * 1024;

/// Bytes of an unusable reply that are kept on record.
const KEPT: usize = 256 * 1024;

/// How the model is asked: by whom, with which settings.
#[derive(Clone)]
pub(super) struct Asking {
    pub(super) client: Arc<dyn LlmClient>,
    pub(super) request: ChatRequest,
    pub(super) asks_again: u32,
    pub(super) at_once: usize,
}

/// What has been spent, counted as it is spent: calls side by side share one budget.
pub(super) struct Meter {
    budget: Budget,
    /// What was spent in earlier turns.
    before: Spent,
    /// And in this one.
    spent: Mutex<Spent>,
}

impl Meter {
    pub(super) fn new(budget: Budget, before: Spent) -> Self {
        Self { budget, before, spent: Mutex::default() }
    }

    /// A panic elsewhere cannot leave numbers half changed, so a poisoned lock is still good.
    pub(super) fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call that is about to be made, if there is room for it.
    fn begin_call(&self) -> Result<(), EndReason> {
        let mut spent = self.spent();
        let mut all = self.before;
        all.add(&spent);
        match self.budget.over_calls(&all) {
            Some(reason) => Err(reason),
            None => {
                spent.calls = spent.calls.saturating_add(1);
                Ok(())
            }
        }
    }

    pub(super) fn out_of_time(&self) -> EndReason {
        EndReason::OutOfTime { limit: self.budget.time }
    }
}

/// The error of a call, kept beside what is recorded of it.
pub(super) type Failed = Option<LlmError>;

impl Asking {
    /// Whether the client takes tools itself.
    pub(super) fn native_tools(&self) -> bool {
        self.client.capabilities().has(Capability::Tools)
    }

    /// Asks several questions, [`at_once`](Self::at_once) at a time, until all are answered, those answered
    /// are enough, or the time is over. The first error of a client comes beside.
    pub(super) async fn all(
        &self,
        asks: &[Ask],
        enough: Option<&Enough>,
        meter: &Meter,
        deadline: Instant,
    ) -> (Vec<Asked>, Failed) {
        let mut answered: Vec<Option<Asked>> = asks.iter().map(|_| None).collect();
        let mut failed = None;
        let mut rest = AskProblem::NotNeeded;
        {
            let one =
                |(place, ask)| async move { (place, self.one(ask, place, meter, asks.len() == 1).await) };
            // Collected, since a stream over borrowed items is not general enough over their lifetimes.
            let calls: Vec<_> = asks.iter().enumerate().map(one).collect();
            let mut running = stream::iter(calls).buffer_unordered(self.at_once);
            loop {
                match timeout_at(deadline, running.next()).await {
                    Ok(Some((place, (asked, error)))) => {
                        failed = failed.or(error);
                        if let Some(slot) = answered.get_mut(place) {
                            *slot = Some(asked);
                        }
                        if enough.is_some_and(|enough| enough(&answered)) {
                            break;
                        }
                    }
                    Ok(None) => break,
                    Err(_) => {
                        rest = AskProblem::OutOf(meter.out_of_time());
                        break;
                    }
                }
            }
        }
        let left = |ask: &Ask| Asked { name: ask.name.clone(), tries: Vec::new(), reply: Err(rest.clone()) };
        let all = asks.iter().zip(answered).map(|(ask, asked)| asked.unwrap_or_else(|| left(ask))).collect();
        (all, failed)
    }

    /// Asks until a reply can be used.
    async fn one(&self, ask: &Ask, place: usize, meter: &Meter, alone: bool) -> (Asked, Failed) {
        let mut request =
            self.request.clone().with_messages(ask.conversation()).with_tools(ask.tools.clone());
        if let Some(temperature) = ask.temperature {
            request = request.with_temperature(temperature);
        }
        if let Some(seed) = request.seed() {
            // The same question asked several times with one seed would have the same reply each time.
            request = request.with_seed(seed.wrapping_add(place as u64));
        }
        let client = ask.client.as_ref().unwrap_or(&self.client);
        let mut tries: Vec<Try> = Vec::new();
        let asked = |tries, reply| Asked { name: ask.name.clone(), tries, reply };
        let mut asks_left = self.asks_again;
        loop {
            if let Err(reason) = meter.begin_call() {
                return (asked(tries, Err(AskProblem::OutOf(reason))), None);
            }
            let response = match response(client, request.clone(), alone).await {
                Ok(response) => response,
                Err(error) => return (asked(tries, Err(AskProblem::Client(error.to_string()))), Some(error)),
            };
            meter.spent().count(&request, &response);
            let problem = match read(ask, &response) {
                Ok(reply) => {
                    tries.push(Try { reply: response.into_text(), complaint: None });
                    return (asked(tries, Ok(reply)), None);
                }
                Err(problem) => problem,
            };
            request.push(Message::assistant(excerpt(response.text())));
            request.push(Message::user(format!(
                "That reply cannot be used: {problem}.\nWrite the whole reply again, in the form that was asked for."
            )));
            tries.push(Try { reply: kept(response.into_text()), complaint: Some(problem.clone()) });
            if asks_left == 0 {
                return (asked(tries, Err(AskProblem::Unreadable(problem))), None);
            }
            asks_left -= 1;
        }
    }
}

/// Calls the model; a question that is asked alone piece by piece where the client can, so that those who
/// watch the run see the thought grow.
async fn response(
    client: &Arc<dyn LlmClient>,
    request: ChatRequest,
    alone: bool,
) -> Result<ChatResponse, LlmError> {
    if !alone || !client.capabilities().has(Capability::Streaming) {
        return client.complete(request).await;
    }
    let look = |piece: &Result<Delta, LlmError>| {
        if let Ok(Delta::Text(text)) = piece {
            note(|| text.clone());
        }
    };
    client.stream(request).await?.inspect(look).collect().await
}

fn read(ask: &Ask, response: &ChatResponse) -> Result<Reply, String> {
    if !response.tool_calls().is_empty() && !ask.tools.is_empty() {
        check_calls(response.tool_calls())?;
        let (text, tool_calls) = (response.text().trim().to_owned(), response.tool_calls().to_vec());
        return Ok(Reply { text, tool_calls, ..Reply::default() });
    }
    ask.read(response.text()).map_err(|problem| match response.finish_reason() {
        FinishReason::Length => {
            format!("{problem}; the reply was cut off at the limit of tokens, so be shorter")
        }
        _ => problem,
    })
}

/// Every call that a reply asks for is made and answered, so there are not to be thousands.
fn check_calls(calls: &[ToolCall]) -> Result<(), String> {
    let bytes: usize =
        calls.iter().map(|call| call.id().len() + call.name().len() + call.arguments().len()).sum();
    if calls.len() > MAX_CALLS {
        return Err(format!("the reply calls {} tools; expected at most {MAX_CALLS}", calls.len()));
    } else if bytes > MAX_CALL_BYTES {
        return Err(format!("the calls have {bytes} bytes; expected at most {MAX_CALL_BYTES}"));
    }
    Ok(())
}

fn kept(mut reply: String) -> String {
    if reply.len() > KEPT {
        let end = (0..=KEPT).rev().find(|at| reply.is_char_boundary(*at)).unwrap_or(0);
        reply.truncate(end);
        reply.push_str(" […]");
    }
    reply
}

/// An unusable reply as it stands in the conversation: its beginning, and never nothing, which servers
/// refuse as a message.
fn excerpt(reply: &str) -> String {
    let beginning: String = reply.chars().take(EXCERPT).collect();
    match beginning.trim() {
        "" => "(empty)".to_owned(),
        _ if beginning.len() < reply.len() => beginning + " […]",
        _ => beginning,
    }
}
