//! Passes events from runs to their readers.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::draw::FlowGraph;
use crate::engine::StepName;
use crate::watch::{Event, EventKind};

/// Creates a channel for the events of runs: a sink that receives them, and a stream to read them
/// from.
///
/// The sink is cheap to clone and can be shared by any number of runs. Up to `capacity` events are
/// buffered; 0 counts as 1. A run never waits for its reader: events that don't fit into the buffer
/// are lost, and the stream reports their number as soon as it is read again.
///
/// ```
/// use cogwork_flow::watch::{EventKind, events};
/// use cogwork_flow::{Flow, from_fn};
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
    // tokio panics for a channel without room.
    let (sender, receiver) = mpsc::channel(capacity.max(1));
    let lost = Arc::new(AtomicU64::new(0));
    let channel = Channel {
        sender,
        lost: Arc::clone(&lost),
    };

    (EventSink::new(Arc::new(channel)), Events { receiver, lost })
}

/// Receives the events of runs while they are executed, for example to record them.
///
/// Unlike the reader of a [channel](crate::watch::events()), it gets every event at once, on the thread of
/// the run. Its methods must not block, because the run waits for them.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use cogwork_flow::draw::FlowGraph;
/// use cogwork_flow::watch::{Event, EventSink, Observer};
/// use cogwork_flow::{Flow, from_fn};
///
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
///
/// impl Observer for Lines {
///     fn run_started(&self, run: &str, flow: &FlowGraph) {
///         self.0.lock().unwrap().push(format!("{run} of {}", flow.name));
///     }
///
///     fn event(&self, event: &Event) {
///         self.0.lock().unwrap().push(event.to_string());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::from_node("greet", from_fn(|text: &mut String| text.push_str("Hello")))?;
///
/// let lines = Arc::new(Lines::default());
/// let sink = EventSink::new(Arc::clone(&lines));
/// flow.begin().with_id("run 7").with_events(sink).finish(&mut String::new()).await?;
///
/// assert_eq!(lines.0.lock().unwrap()[..2], ["run 7 of greet", "run 7: started"]);
/// # Ok(())
/// # }
/// ```
pub trait Observer: Send + Sync {
    /// Called when a run starts, before its first event, with the id of the run and the graph of its
    /// flow.
    fn run_started(&self, _run: &str, _flow: &FlowGraph) {}

    /// Called for each event.
    fn event(&self, event: &Event);

    /// Returns whether the observer wants the pieces of texts that grow: [notes](crate::watch::note_growth)
    /// and [reports](crate::watch::report_growth) whose content is repeated by a later event as a whole.
    ///
    /// The default is `false`.
    fn follows_growth(&self) -> bool {
        false
    }
}

/// Where the events of runs go: into a channel, created by [`events`], or to other [`Observer`]s.
///
/// Clones send to the same place.
#[derive(Clone)]
pub struct EventSink(pub(crate) Vec<Arc<dyn Observer>>);

impl EventSink {
    /// Creates a sink that passes each event to an observer.
    pub fn new(observer: Arc<impl Observer + 'static>) -> Self {
        Self(vec![observer])
    }
}

impl EventSink {
    /// Leaves out the pieces of [texts that grow](Observer::follows_growth).
    #[must_use]
    pub fn without_growth(self) -> Self {
        let observers = self.0.into_iter();
        let observers = observers.map(|observer| Arc::new(WithoutGrowth(observer)) as _);
        Self(observers.collect())
    }
}

struct WithoutGrowth(Arc<dyn Observer>);

impl Observer for WithoutGrowth {
    fn run_started(&self, run: &str, flow: &FlowGraph) {
        self.0.run_started(run, flow);
    }

    fn event(&self, event: &Event) {
        self.0.event(event);
    }
}

/// The sending half of a channel of events.
struct Channel {
    sender: mpsc::Sender<Event>,
    lost: Arc<AtomicU64>,
}

impl Observer for Channel {
    fn event(&self, event: &Event) {
        // Never waits: a run must not depend on whether somebody reads.
        let sent = self.sender.try_send(event.clone());
        // If the reader was dropped, nobody wants to know what is lost.
        if let Err(mpsc::error::TrySendError::Full(_)) = sent {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn follows_growth(&self) -> bool {
        true
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
        poll_fn(|context| self.poll_next(context)).await
    }

    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        // Before the queue, because a reader that is too slow may never reach its end.
        match self.lost() {
            Some(lost) => Poll::Ready(Some(lost)),
            None => self.receiver.poll_recv(context),
        }
    }

    /// Returns an event with the number of events that were lost since the last call.
    fn lost(&self) -> Option<Event> {
        // Read and reset at once, so that a loss in between is counted the next time.
        let count = self.lost.swap(0, Ordering::Relaxed);
        (count > 0).then(|| Event {
            run: Arc::from(""),
            step: None,
            at: Duration::ZERO,
            kind: EventKind::Lost { count },
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.receiver.is_empty() && self.lost.load(Ordering::Relaxed) == 0
    }
}

/// The watcher of a run.
#[derive(Clone)]
pub(crate) struct Watch {
    run: Arc<str>,
    observers: Arc<[Arc<dyn Observer>]>,
    started: Instant,
}

impl Watch {
    /// Starts to watch a run.
    pub(crate) fn start(run: Arc<str>, sink: &EventSink, flow: &FlowGraph) -> Self {
        for observer in &sink.0 {
            observer.run_started(&run, flow);
        }

        let watch = Self {
            run,
            observers: sink.0.as_slice().into(),
            started: Instant::now(),
        };
        watch.emit(None, false, EventKind::RunStarted);
        watch
    }

    /// Returns whether anyone wants events, or texts while they grow.
    pub(crate) fn is_wanted(&self, is_growth: bool) -> bool {
        self.wanting(is_growth).next().is_some()
    }

    /// Emits an event to those who want it.
    pub(crate) fn emit(&self, step: Option<Arc<StepName>>, is_growth: bool, kind: EventKind) {
        let event = Event {
            run: Arc::clone(&self.run),
            step,
            at: self.started.elapsed(),
            kind,
        };
        for observer in self.wanting(is_growth) {
            observer.event(&event);
        }
    }

    fn wanting(&self, is_growth: bool) -> impl Iterator<Item = &Arc<dyn Observer>> {
        let observers = self.observers.iter();
        observers.filter(move |observer| !is_growth || observer.follows_growth())
    }
}
