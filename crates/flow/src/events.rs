//! What a run tells those who watch it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cogwork_text::{Name, OneLine};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::{Action, Paused, Phase, StepName};

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
/// flow.begin().id("run 7").events_to(sink).finish(&mut String::new()).await?;
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
    (EventSink { sender, lost: Arc::clone(&lost) }, Events { receiver, lost })
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
            count => Some(Event::new(Arc::from(""), None, Duration::ZERO, EventKind::Lost { count })),
        }
    }
}

/// Something that happened in a run.
///
/// `Display` writes it as a line for people, without the time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The run's id; empty for [`EventKind::Lost`].
    pub run: Arc<str>,
    /// The step it happened in; `None` for what concerns the whole run.
    pub step: Option<Arc<StepName>>,
    /// How long after its start.
    pub at: Duration,
    /// What happened.
    pub kind: EventKind,
}

/// What happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The run takes its first step.
    RunStarted,
    /// A node is visited.
    StepEntered,
    /// A phase of the node came to its end, well or badly.
    PhaseFinished {
        /// Which one.
        phase: Phase,
        /// How long it took.
        took: Duration,
    },
    /// `exec` failed and is tried again after a delay.
    Retrying {
        /// Attempts made so far.
        attempts: u32,
        /// How long until the next.
        delay: Duration,
        /// The error, in one line.
        error: String,
    },
    /// `exec` told of itself; see [`note`](crate::note).
    Noted {
        /// What it said.
        text: String,
    },
    /// The run left the node for another one, or for the same one again.
    Moved {
        /// The label it left by.
        action: Action,
        /// The node it goes to.
        to: String,
    },
    /// The run, or the flow over an item or of a branch, came to its end with this step.
    Ended {
        /// The label it ended on.
        action: Action,
        /// Steps of the whole run so far.
        steps: u64,
    },
    /// The outcome of `exec` is on record: it was not done again.
    Replayed,
    /// The run waits for an event.
    Paused(Paused),
    /// The run stopped before its end, at this step.
    Failed {
        /// The error, in one line.
        error: String,
    },
    /// The reader was too slow, and so many events are missing here.
    Lost {
        /// How many.
        count: u64,
    },
}

impl Event {
    fn new(run: Arc<str>, step: Option<Arc<StepName>>, at: Duration, kind: EventKind) -> Self {
        Self { run, step, at, kind }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.run.is_empty() {
            write!(f, "{}: ", Name(&self.run))?;
        }
        if let Some(step) = &self.step {
            write!(f, "{step} ")?;
        }
        match &self.kind {
            EventKind::RunStarted => f.write_str("started"),
            EventKind::StepEntered => f.write_str("entered"),
            EventKind::PhaseFinished { phase, took } => write!(f, "finished {phase} in {took:?}"),
            EventKind::Retrying { attempts, delay, error } => {
                write!(f, "failed attempt {attempts}, next in {delay:.1?}: {}", OneLine::new(error))
            }
            EventKind::Noted { text } => write!(f, "noted: {}", OneLine::new(text)),
            EventKind::Moved { action, to } => {
                write!(f, "moved on `{}` to {}", Name(action.as_str()), Name(to))
            }
            EventKind::Ended { action, steps } => {
                let plural = if *steps == 1 { "" } else { "s" };
                write!(f, "ended on `{}` after {steps} step{plural} in all", Name(action.as_str()))
            }
            EventKind::Replayed => f.write_str("replayed exec"),
            EventKind::Paused(paused) => paused.fmt(f),
            EventKind::Failed { error } => write!(f, "failed: {}", OneLine::new(error)),
            EventKind::Lost { count } => write!(f, "{count} events were lost: the reader is too slow"),
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
        self.sink.tell(Event::new(Arc::clone(&self.run), step, self.started.elapsed(), kind));
    }
}
