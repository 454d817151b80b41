//! Calls that are carried out while they are read, without any type of rmcp. Those that arrive
//! together are stored and answered together.

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{FuturesUnordered, StreamExt};
use rmcp::model::RequestId;
use serde::Deserialize;

use super::direct::Opened;
use super::in_flight::{InFlight, Place};
use super::tool_call::{self, Object, ToolCall};

/// A tool whose usual calls are carried out at once, and stored afterwards.
pub(crate) trait QuickTool: Send {
    const NAME: &'static str;

    /// The arguments of usual calls. They are read in another way if these cannot be read.
    type Arguments<'a>: Deserialize<'a>;

    /// The result of a call.
    type Result: QuickResult;

    /// Carries out a call. Its result must not be sent before the call is stored.
    ///
    /// Returns `None` if the call cannot be carried out at once, or if it is unusual. In this case,
    /// nothing has changed.
    fn call(&mut self, arguments: Self::Arguments<'_>) -> Option<Self::Result>;

    /// Starts to store all calls that have been carried out.
    fn store(&mut self) -> BoxFuture<'static, Storing<Self::Result>>;
}

/// The result of a call.
pub(crate) trait QuickResult: Send {
    /// Appends the result as JSON, as the client gets it.
    fn write(&self, json: &mut Vec<u8>) -> serde_json::Result<()>;
}

/// What has become of calls that were to be stored.
pub(crate) enum Storing<R> {
    Done,
    /// They must be carried out again.
    Again,
    /// This is the result of each call.
    Failed(R),
}

/// Calls of a quick tool.
pub(super) struct QuickCalls<Q: QuickTool> {
    tool: Option<Q>,
    opened: Opened,
    in_flight: InFlight,
    /// Calls that aren't going to be stored yet.
    batch: Batch,
    storing: FuturesUnordered<Pending<Q::Result>>,
}

/// Calls that are answered together.
#[derive(Default)]
struct Batch {
    calls: Vec<Call>,
    messages: Vec<u8>,
    answers: Vec<u8>,
    place: Option<Place>,
}

struct Call {
    id: RequestId,
    message: Range<usize>,
    answer: Range<usize>,
    is_cancelled: bool,
}

/// Calls that have been stored.
pub(super) enum Finished {
    Answered {
        answers: Vec<u8>,
        place: Option<Place>,
    },
    /// These messages must be read and carried out in the usual way.
    Again {
        messages: Vec<(RequestId, Vec<u8>)>,
        place: Option<Place>,
    },
}

impl<Q: QuickTool> QuickCalls<Q> {
    pub(super) fn new(tool: Option<Q>, opened: Opened, in_flight: InFlight) -> Self {
        Self {
            tool,
            opened,
            in_flight,
            batch: Batch::default(),
            storing: FuturesUnordered::new(),
        }
    }

    /// Carries out the call in a message. Returns whether there was one that could be carried out.
    pub(super) fn carry_out(&mut self, message: &[u8]) -> bool {
        if self.batch.calls.is_empty() && !self.opened.is_legacy() {
            return false;
        }
        let Some(tool) = &mut self.tool else {
            return false;
        };

        let call = tool_call::read_as::<Object<Q::Arguments<'_>>>(message);
        let Some(call) = call.filter(|call| call.name == Q::NAME && !call.has_meta()) else {
            return false;
        };
        let ToolCall { id, arguments, .. } = call;
        let Some(Object(arguments)) = arguments else {
            return false;
        };

        let Some(place) = self.in_flight.free_place() else {
            return false;
        };
        if self.in_flight.contains(&id) || self.batch.contains(&id) {
            return false;
        }
        let Some(result) = tool.call(arguments) else {
            return false;
        };
        self.batch.add(id, message, &result, place);
        true
    }

    /// Stores what has been carried out. Returns the calls if they have been stored at once.
    pub(super) fn store(&mut self) -> Option<Finished> {
        let tool = self.tool.as_mut()?;
        if self.batch.calls.is_empty() {
            return None;
        }

        let mut storing = tool.store();
        let batch = std::mem::take(&mut self.batch);
        match (&mut storing).now_or_never() {
            Some(stored) => Some(Self::finished(batch, stored)),
            None => {
                for call in &batch.calls {
                    self.in_flight.add(&call.id);
                }
                self.storing.push(Pending { batch, storing });
                None
            }
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.storing.is_empty()
    }

    /// Waits for calls that are being stored. If the future is dropped, nothing is lost.
    pub(super) async fn next(&mut self) -> Option<Finished> {
        let (batch, stored) = self.storing.next().await?;
        let answered = batch.remaining().map(|call| &call.id);
        answered.for_each(|id| drop(self.in_flight.remove(id)));
        Some(Self::finished(batch, stored))
    }

    /// Drops the answer to a call.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        // Another request may use the same id afterwards.
        let pending = self.storing.iter_mut();
        let calls = pending.flat_map(|pending| &mut pending.batch.calls);
        for call in calls.filter(|call| call.id == *id) {
            call.is_cancelled = true;
        }
    }

    fn finished(mut batch: Batch, stored: Storing<Q::Result>) -> Finished {
        let answers = match stored {
            Storing::Done => batch.remaining_answers(),
            Storing::Failed(result) => batch.each_answered(&result),
            Storing::Again => {
                let messages = batch.remaining_messages();
                return Finished::Again {
                    messages,
                    place: batch.place,
                };
            }
        };
        Finished::Answered {
            answers,
            place: batch.place,
        }
    }
}

impl Batch {
    fn add(&mut self, id: RequestId, message: &[u8], result: &impl QuickResult, place: Place) {
        let message_start = self.messages.len();
        self.messages.extend_from_slice(message);
        let answer_start = self.answers.len();
        write_answer(&mut self.answers, &id, result);

        self.calls.push(Call {
            id,
            message: message_start..self.messages.len(),
            answer: answer_start..self.answers.len(),
            is_cancelled: false,
        });
        match &mut self.place {
            Some(places) => places.merge(place),
            None => self.place = Some(place),
        }
    }

    /// Returns whether there is a call with this id. There are a few hundred at most.
    fn contains(&self, id: &RequestId) -> bool {
        self.calls.iter().any(|call| call.id == *id)
    }

    fn remaining(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| !call.is_cancelled)
    }

    fn remaining_answers(&mut self) -> Vec<u8> {
        if self.calls.iter().all(|call| !call.is_cancelled) {
            return std::mem::take(&mut self.answers);
        }
        let answers = self.remaining().map(|call| call.answer.clone());
        let answers = answers.filter_map(|range| self.answers.get(range));
        answers.flatten().copied().collect()
    }

    fn remaining_messages(&self) -> Vec<(RequestId, Vec<u8>)> {
        let messages = self.remaining().filter_map(|call| {
            let message = self.messages.get(call.message.clone())?;
            Some((call.id.clone(), message.to_vec()))
        });
        messages.collect()
    }

    fn each_answered(&self, result: &impl QuickResult) -> Vec<u8> {
        let mut answers = Vec::new();
        for call in self.remaining() {
            write_answer(&mut answers, &call.id, result);
        }
        answers
    }
}

/// Calls that are being stored.
struct Pending<R> {
    batch: Batch,
    storing: BoxFuture<'static, Storing<R>>,
}

impl<R> Future for Pending<R> {
    type Output = (Batch, Storing<R>);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let stored = std::task::ready!(self.storing.as_mut().poll(context));
        let batch = std::mem::take(&mut self.batch);
        Poll::Ready((batch, stored))
    }
}

/// Appends an answer, as rmcp writes it.
fn write_answer(answers: &mut Vec<u8>, id: &RequestId, result: &impl QuickResult) {
    answers.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    // Neither a vector nor these types can fail.
    let _ = serde_json::to_writer(&mut *answers, id);
    answers.extend_from_slice(br#","result":"#);
    let _ = result.write(answers);
    answers.extend_from_slice(b"}\n");
}
