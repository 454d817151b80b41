//! Passes events from runs to their readers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::wiring::Wiring;
use crate::{Event, EventKind, ObservedRun, Observer, StepName};

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
    let to = To::Channel {
        sender,
        lost: Arc::clone(&lost),
    };

    (EventSink { to }, Events { receiver, lost })
}

/// Where the events of runs go: into a channel, created by [`events`], or to an [`Observer`].
///
/// Clones send to the same place.
#[derive(Debug, Clone)]
pub struct EventSink {
    to: To,
}

#[derive(Clone)]
enum To {
    Channel {
        sender: mpsc::Sender<Event>,
        lost: Arc<AtomicU64>,
    },
    Observer(Arc<dyn Observer>),
    /// Several sinks get each event, in this order.
    All(Arc<[EventSink]>),
}

impl EventSink {
    /// Creates a sink that passes each event to an observer.
    pub fn new(observer: Arc<impl Observer + 'static>) -> Self {
        Self {
            to: To::Observer(observer),
        }
    }

    /// Returns a sink that passes each event to both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            to: To::All([self, other].into()),
        }
    }

    /// Passes on that a run starts.
    fn start(&self, run: &ObservedRun<'_>) {
        match &self.to {
            To::Channel { .. } => {}
            To::Observer(observer) => observer.run_started(run),
            To::All(sinks) => sinks.iter().for_each(|sink| sink.start(run)),
        }
    }

    fn emit(&self, event: &Event, reach: Reach) {
        match &self.to {
            To::Channel { sender, lost } => {
                let sent = sender.try_send(event.clone());
                if let Err(mpsc::error::TrySendError::Full(_)) = sent {
                    lost.fetch_add(1, Ordering::Relaxed);
                }
            }
            To::Observer(observer) if reach.includes(&**observer) => observer.event(event),
            To::Observer(_) => {}
            To::All(sinks) => sinks.iter().for_each(|sink| sink.emit(event, reach)),
        }
    }

    /// Passes on an event that no one else needs, without copying it for a channel.
    fn emit_owned(&self, event: Event, reach: Reach) {
        let To::Channel { sender, lost } = &self.to else {
            self.emit(&event, reach);
            return;
        };

        if let Err(mpsc::error::TrySendError::Full(_)) = sender.try_send(event) {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns whether anyone follows texts while they grow.
    fn follows_growth(&self) -> bool {
        match &self.to {
            To::Channel { .. } => true,
            To::Observer(observer) => observer.follows_growth(),
            To::All(sinks) => sinks.iter().any(Self::follows_growth),
        }
    }
}

impl fmt::Debug for To {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel { sender, .. } => f.debug_tuple("Channel").field(sender).finish(),
            Self::Observer(_) => f.debug_tuple("Observer").finish_non_exhaustive(),
            Self::All(sinks) => f.debug_tuple("All").field(sinks).finish(),
        }
    }
}

/// Who gets an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Everyone,
    /// Those who follow texts while they grow.
    Followers,
}

impl Reach {
    fn includes(self, observer: &dyn Observer) -> bool {
        match self {
            Self::Everyone => true,
            Self::Followers => observer.follows_growth(),
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
    run: Arc<str>,
    sink: EventSink,
    started: Instant,
}

impl Watch {
    /// Starts to watch a run.
    pub(crate) fn start(run: Arc<str>, sink: EventSink, wiring: &Wiring) -> Self {
        let watch = Self {
            run,
            sink,
            started: Instant::now(),
        };

        watch.sink.start(&ObservedRun::new(&watch.run, wiring));
        watch.emit(None, EventKind::RunStarted);
        watch
    }

    pub(crate) fn emit(&self, step: Option<Arc<StepName>>, kind: EventKind) {
        let event = self.event(step, kind);
        self.sink.emit_owned(event, Reach::Everyone);
    }

    /// Emits a piece of a text to those who follow texts while they grow.
    pub(crate) fn emit_growth(&self, step: Option<Arc<StepName>>, kind: EventKind) {
        let event = self.event(step, kind);
        self.sink.emit_owned(event, Reach::Followers);
    }

    pub(crate) fn follows_growth(&self) -> bool {
        self.sink.follows_growth()
    }

    fn event(&self, step: Option<Arc<StepName>>, kind: EventKind) -> Event {
        let run = Arc::clone(&self.run);
        Event::new(run, step, self.started.elapsed(), kind)
    }
}
