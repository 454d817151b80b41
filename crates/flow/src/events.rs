//! The way of events from runs to those who watch them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::{Event, EventKind, StepName};

/// A way for runs to tell what happens in them, and the stream of what they told.
///
/// Any number of runs may share the sink, which clones cheaply. Up to `capacity` events wait for
/// their reader (0 counts as 1). A run never waits for a reader: an event for which there is no room
/// is lost, and the stream says how many were as soon as it is read again.
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
/// let (sink, mut told) = events(100);
/// flow.begin().with_id("run 7").with_events(sink).finish(&mut String::new()).await?;
///
/// let mut lines = Vec::new();
/// while let Some(event) = told.next().await {
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

/// Where runs tell their events; made by [`events`].
#[derive(Debug, Clone)]
pub struct EventSink {
    sender: mpsc::Sender<Event>,
    lost: Arc<AtomicU64>,
}

impl EventSink {
    pub(crate) fn tell(&self, event: Event) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.sender.try_send(event) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What runs told, in the order of each run; made by [`events`].
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::Receiver<Event>,
    lost: Arc<AtomicU64>,
}

impl Events {
    /// The next event; `None` when every sink is dropped and all is read. Dropping the future
    /// loses nothing.
    pub async fn next(&mut self) -> Option<Event> {
        match self.lost.swap(0, Ordering::Relaxed) {
            0 => self.receiver.recv().await,
            count => Some(Event::new(
                Arc::from(""),
                None,
                Duration::ZERO,
                EventKind::Lost { count },
            )),
        }
    }
}

/// A run that is watched.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    pub(crate) run: Arc<str>,
    pub(crate) sink: EventSink,
    pub(crate) started: Instant,
}

impl Watch {
    pub(crate) fn tell(&self, step: Option<Arc<StepName>>, kind: EventKind) {
        self.sink.tell(Event::new(
            Arc::clone(&self.run),
            step,
            self.started.elapsed(),
            kind,
        ));
    }
}
