//! Passes events from runs to their readers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::{Event, EventKind, StepName};

/// Creates a channel for the events of runs: a sink that receives them, and a stream to read them
/// from.
///
/// The sink is cheap to clone and can be shared by any number of runs. Up to `capacity` events are
/// buffered; 0 counts as 1. A run never waits for its reader: events that don't fit into the buffer
/// are lost, and the stream reports their number as soon as it is read again.
///
/// ```
/// use cogwork_flow::{EventKind, Flow, events, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("greet")
///     .start("hello")
///     .node("hello", from_fn(|text: &mut String| text.push_str("Hello")))
///     .end("hello", "default")
///     .build()?;
///
/// let (sink, mut stream) = events(100);
/// flow.begin().with_id("run 7").with_events(sink).finish(&mut String::new()).await?;
///
/// let mut lines = Vec::new();
/// while let Some(event) = stream.next().await {
///     if !matches!(event.kind, EventKind::PhaseFinished { .. }) {
///         lines.push(event.to_string());
///     }
/// }
/// assert_eq!(lines, [
///     "run 7: started",
///     "run 7: greet/hello#1 entered",
///     "run 7: greet/hello#1 ended on `default` after 1 step in all",
/// ]);
/// # Ok(())
/// # }
/// ```
pub fn events(capacity: usize) -> (EventSink, Events) {
    let (sender, receiver) = mpsc::channel(capacity.max(1));
    let lost = Arc::new(AtomicU64::new(0));
    (
        EventSink {
            sender,
            lost: Arc::clone(&lost),
        },
        Events { receiver, lost },
    )
}

/// The sending half of a channel of events. Created by [`events`].
#[derive(Debug, Clone)]
pub struct EventSink {
    sender: mpsc::Sender<Event>,
    lost: Arc<AtomicU64>,
}

impl EventSink {
    pub(crate) fn emit(&self, event: Event) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.sender.try_send(event) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The receiving half of a channel of events. Created by [`events`]. The events of each run arrive
/// in order.
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::Receiver<Event>,
    lost: Arc<AtomicU64>,
}

impl Events {
    /// Receives the next event. Returns `None` once all sinks are dropped and all events have been
    /// read.
    ///
    /// This method is cancel safe: if the future is dropped, no event is lost.
    pub async fn next(&mut self) -> Option<Event> {
        match self.lost() {
            Some(lost) => Some(lost),
            None => self.receiver.recv().await,
        }
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        match self.lost() {
            Some(lost) => Poll::Ready(Some(lost)),
            None => self.receiver.poll_recv(context),
        }
    }

    /// Returns an event with the number of events that were lost since the last call.
    fn lost(&self) -> Option<Event> {
        let count = self.lost.swap(0, Ordering::Relaxed);
        let event = || {
            let kind = EventKind::Lost { count };
            Event::new(Arc::from(""), None, Duration::ZERO, kind)
        };

        (count > 0).then(event)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.receiver.is_empty() && self.lost.load(Ordering::Relaxed) == 0
    }
}

/// The watcher of a run.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    pub(crate) run: Arc<str>,
    pub(crate) sink: EventSink,
    pub(crate) started: Instant,
}

impl Watch {
    pub(crate) fn emit(&self, step: Option<Arc<StepName>>, kind: EventKind) {
        self.sink.emit(Event::new(
            Arc::clone(&self.run),
            step,
            self.started.elapsed(),
            kind,
        ));
    }
}
