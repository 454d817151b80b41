//! Runs as streams.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::{FusedFuture, MaybeDone, maybe_done};
use futures_util::{FutureExt, Stream};

use super::Run;
use crate::boxed::BoxFuture;
use crate::watch::{Event, Events, events};
use crate::{Ended, Flow, RunError};

/// A run together with its events.
///
/// The run makes progress only while the stream is polled, and only once all earlier events were
/// read. So a slow reader delays the run instead of losing events, up to
/// [`CAPACITY`](Self::CAPACITY) events that a node emits without waiting for anything; further ones
/// are replaced by [`EventKind::Lost`](crate::watch::EventKind::Lost). A connection to a model is read by
/// the run, too, so read the events into a buffer first if a reader may be slower than the model's
/// timeout.
///
/// Dropping the stream cancels the run, and drops its state as it was after the last complete step.
///
/// ```
/// use std::sync::Arc;
///
/// use cogwork_flow::watch::RunItem;
/// use cogwork_flow::{Flow, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::from_node("greet", from_fn(|text: &mut String| text.push_str("Hello")))?;
/// let mut stream = Arc::new(flow).stream(String::new(), |run| run.with_max_steps(100));
/// let mut steps = 0;
///
/// while let Some(item) = stream.next().await {
///     match item {
///         RunItem::Event(event) => steps += u32::from(event.step.is_some()),
///         RunItem::Finished(finished) => assert_eq!(finished.state, "Hello"),
///     }
/// }
/// assert!(steps > 0);
/// # Ok(())
/// # }
/// ```
pub struct RunStream<S> {
    events: Events,
    run: MaybeDone<BoxFuture<'static, Finished<S>>>,
}

/// An item of a [`RunStream`].
#[derive(Debug)]
pub enum RunItem<S> {
    /// An event of the run.
    Event(Event),
    /// The end of the run, which is the last item.
    Finished(Finished<S>),
}

/// The end of a [`RunStream`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished<S> {
    /// The state, as it was after the last complete step.
    pub state: S,
    /// How the run ended. A run that [paused](RunError::paused) is an error here.
    pub result: Result<Ended, RunError>,
}

impl<S: Send + 'static> Flow<S> {
    /// Returns the events of a run as a stream, which also executes it, for example in the handler of
    /// a web server. `set` changes the settings of the run; to keep them, pass `|run| run`. Sinks from
    /// [`Run::with_events`] get the events as well.
    pub fn stream(
        self: &Arc<Self>,
        mut state: S,
        set: impl for<'f> FnOnce(Run<'f, S>) -> Run<'f, S> + Send + 'static,
    ) -> RunStream<S> {
        let (sink, events) = events(RunStream::<S>::CAPACITY);
        let flow = Arc::clone(self);

        let run: BoxFuture<'static, _> = Box::pin(async move {
            // Begun inside, because the run borrows the flow, which the future owns.
            let mut run = set(flow.begin()).with_events(sink);
            let result = run.finish(&mut state).await;
            Finished { state, result }
        });
        RunStream {
            events,
            run: maybe_done(run),
        }
    }
}

impl<S> RunStream<S> {
    /// The maximum number of events that wait to be read: 1,024.
    pub const CAPACITY: usize = 1024;

    /// Returns the next item, or `None` after the end.
    ///
    /// This method is cancel safe: if the future is dropped, no item is lost.
    pub async fn next(&mut self) -> Option<RunItem<S>> {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<RunItem<S>>> {
        loop {
            match self.events.poll_next(context) {
                Poll::Ready(Some(event)) => return Poll::Ready(Some(RunItem::Event(event))),
                // The reader has used up the time that tokio grants a task at once.
                Poll::Pending if !self.events.is_empty() => return Poll::Pending,
                Poll::Pending | Poll::Ready(None) => {}
            }

            // The run is only polled when no event waits, which is how a slow reader slows it down.
            let is_running = !self.run.is_terminated() && self.run.poll_unpin(context).is_pending();
            if !self.events.is_empty() {
                continue;
            }
            if is_running {
                return Poll::Pending;
            }

            let finished = Pin::new(&mut self.run).take_output();
            return Poll::Ready(finished.map(RunItem::Finished));
        }
    }
}

impl<S> Stream for RunStream<S> {
    type Item = RunItem<S>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(context)
    }
}
