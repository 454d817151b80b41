use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use cogwork_flow::watch::Finished;
use cogwork_flow::watch::{Event, EventKind, RunItem, RunStream};
use cogwork_flow::{Flow, Run};
use futures_util::{Stream, StreamExt};

use crate::{ChainOfThought, Reasoning, ReasoningEvent};

/// A reasoning together with its events.
///
/// The model is only asked while the stream is polled. A slow reader delays the reasoning, and
/// dropping the stream cancels it; see [`RunStream`], which does the work.
///
/// ```
/// use cogwork_cot::{ChainOfThought, Reasoning, ReasoningEvent};
/// use cogwork_llm::ScriptedClient;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let reply = "current_thinking: 2 + 2 = 4.\nplanning:\n- {description: Conclusion, status: Done, result: 4}\nnext_thought_needed: false";
/// let client = ScriptedClient::new([reply]);
/// let mut stream = ChainOfThought::new(client).stream(Reasoning::new("What is 2 + 2?"));
/// let mut text = String::new();
///
/// while let Some(event) = stream.next().await {
///     println!("data: {}\n", serde_json::to_string(&event)?);
///
///     if let ReasoningEvent::Thinking { text: piece, is_start, .. } = event {
///         if is_start {
///             text.clear();
///         }
///         text += &piece;
///     }
/// }
///
/// let reasoning = stream.into_finished().map(|finished| finished.state);
/// assert_eq!(reasoning.unwrap_or_else(|| unreachable!()).solution(), Some(text.as_str()));
/// # Ok(())
/// # }
/// ```
pub struct ReasoningStream {
    run: RunStream<Reasoning>,
    finished: Option<Box<Finished<Reasoning>>>,
}

impl ChainOfThought {
    /// Returns a stream that reasons about a problem while its events are read.
    pub fn stream(self, reasoning: Reasoning) -> ReasoningStream {
        self.stream_with(reasoning, |run| run)
    }

    /// Returns a [`stream`](Self::stream) whose run has other settings, such as a journal or a
    /// deadline.
    pub fn stream_with(
        self,
        reasoning: Reasoning,
        set: impl for<'f> FnOnce(Run<'f, Reasoning>) -> Run<'f, Reasoning> + Send + 'static,
    ) -> ReasoningStream {
        let flow: Arc<Flow<Reasoning>> = Arc::new(self.into_flow());

        ReasoningStream {
            run: flow.stream(reasoning, set),
            finished: None,
        }
    }
}

impl ReasoningStream {
    /// Returns the next event, or `None` after [`ReasoningEvent::Ended`].
    ///
    /// This method is cancel safe: if the future is dropped, no event is lost.
    pub async fn next(&mut self) -> Option<ReasoningEvent> {
        StreamExt::next(self).await
    }

    /// Returns the state and the result of the run, after the last event.
    pub fn into_finished(self) -> Option<Finished<Reasoning>> {
        self.finished.map(|finished| *finished)
    }
}

impl fmt::Debug for ReasoningStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReasoningStream")
            .field("finished", &self.finished.is_some())
            .finish_non_exhaustive()
    }
}

impl Stream for ReasoningStream {
    type Item = ReasoningEvent;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<ReasoningEvent>> {
        loop {
            let item = ready!(Pin::new(&mut self.run).poll_next(context));

            let event = match item {
                None => return Poll::Ready(None),
                Some(RunItem::Event(event)) => reasoning_event(event),
                Some(RunItem::Finished(finished)) => {
                    let error = finished.result.as_ref().err();
                    let ended = ReasoningEvent::ended(&finished.state, error);
                    self.finished = Some(Box::new(finished));
                    Some(ended)
                }
            };

            if event.is_some() {
                return Poll::Ready(event);
            }
        }
    }
}

/// Returns the event of the reasoning that an event of the run contains.
fn reasoning_event(event: Event) -> Option<ReasoningEvent> {
    match event.kind {
        // Events of clients and tools are reported, too, and are not of this type.
        EventKind::Reported { report } => report.downcast_ref().cloned(),
        EventKind::Retrying {
            attempts,
            delay,
            error,
        } => Some(ReasoningEvent::Retrying {
            attempts,
            delay,
            error,
        }),
        EventKind::Lost { count } => Some(ReasoningEvent::Lost { count }),
        _ => None,
    }
}
