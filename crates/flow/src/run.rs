use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::cursor::Cursor;
use crate::events::Watch;
use crate::stop::Stop;
use crate::{Action, EventKind, EventSink, Flow, RunError};

/// A run of a flow: a cursor over the checked graph.
///
/// [`finish`](Run::finish) is a loop over [`step`](Run::step), so a program that steps by itself
/// sees exactly what a whole run does. The state is handed to each step and belongs to the caller
/// between steps.
///
/// ```
/// use cogwork_flow::{Flow, Stepped, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("greet")
///     .start("hello")
///     .node("hello", from_fn(|text: &mut String| text.push_str("Hello")))
///     .node("name", from_fn(|text: &mut String| text.push_str(", Ada")))
///     .edge("hello", "default", "name")
///     .end("name", "default")
///     .build()?;
///
/// let mut text = String::new();
/// let mut run = flow.begin().max_steps(100);
/// while let Stepped::Moved { from, to, .. } = run.step(&mut text).await? {
///     assert_eq!((from, to, text.as_str()), ("hello", "name", "Hello"));
/// }
/// assert_eq!(text, "Hello, Ada");
/// # Ok(())
/// # }
/// ```
pub struct Run<'f, S> {
    flow: &'f Flow<S>,
    cursor: Cursor<'f>,
    context: Context,
    stop: Option<Stop>,
    id: Option<Arc<str>>,
    sink: Option<EventSink>,
    ended: Option<Ended>,
}

/// What one step of a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stepped<'f> {
    /// The run went on to another node, or to the same one again.
    Moved {
        /// The node that was visited.
        from: &'f str,
        /// The label it answered.
        action: Action,
        /// The node to be visited next.
        to: &'f str,
    },
    /// The run is at its end.
    Ended(Ended),
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The label on which the flow ended.
    pub action: Action,
    /// How many nodes were visited, repeated visits counted.
    pub steps: u64,
}

impl<'f, S> Run<'f, S> {
    /// How many steps a run may take unless [`max_steps`](Run::max_steps) says otherwise: 10,000.
    pub const DEFAULT_MAX_STEPS: u64 = 10_000;

    pub(crate) fn new(flow: &'f Flow<S>) -> Self {
        let context = Context::new(Self::DEFAULT_MAX_STEPS);
        Self {
            flow,
            cursor: Cursor::at_start(&flow.wiring),
            context,
            stop: None,
            id: None,
            sink: None,
            ended: None,
        }
    }

    /// How many steps the run may take in all, those in subflows counted. It may be raised when
    /// the limit was reached, and the run goes on.
    ///
    /// # Default
    ///
    /// [`Run::DEFAULT_MAX_STEPS`].
    #[must_use]
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.context.max_steps = steps;
        self
    }

    /// When the run stops, wherever it is. The clock is tokio's, so it can be paused in tests.
    ///
    /// # Default
    ///
    /// Never.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.stop.get_or_insert_default().deadline = Some(deadline);
        self
    }

    /// Stops the run, wherever it is, when the token is cancelled.
    ///
    /// # Default
    ///
    /// No token; dropping the future stops a run as well, but says nothing of where it was.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.stop.get_or_insert_default().token = Some(token);
        self
    }

    /// The name of the run in its events.
    ///
    /// # Default
    ///
    /// `run 1`, `run 2` and so on, counted over the process.
    #[must_use]
    pub fn id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Tells what happens in the run; see [`events`](crate::events()).
    ///
    /// # Default
    ///
    /// Nobody is told, and it costs nothing.
    #[must_use]
    pub fn events_to(mut self, sink: EventSink) -> Self {
        self.sink = Some(sink);
        self
    }

    /// How many nodes were visited so far.
    pub fn steps(&self) -> u64 {
        self.context.steps()
    }

    /// The node to be visited next; `None` at the end.
    pub fn node(&self) -> Option<&'f str> {
        self.cursor.place().map(|place| place.name.as_str())
    }

    /// The names of the flow and of the subflows down to that node, outermost first; empty at the end.
    pub fn flow_path(&self) -> Vec<String> {
        self.cursor.flow_path()
    }

    /// Visits the next node and follows the edge of the action it answers.
    ///
    /// At the end it answers the same [`Stepped::Ended`] again. The future may be dropped at any
    /// `await`, and the run stays where it was: the next call visits the node anew.
    ///
    /// # Errors
    ///
    /// When the node fails, answers an action it does not declare, the limit of steps or the
    /// deadline is reached, or the run is cancelled. The run stays at the node, so the call may be
    /// made again.
    pub async fn step(&mut self, state: &mut S) -> Result<Stepped<'f>, RunError> {
        let from = self.node().unwrap_or_default();
        if self.sink.is_some() {
            self.watch();
        }
        let step = self.context.step(self.flow, &mut self.cursor, None, state);
        let stepped = match &self.stop {
            None => step.await,
            Some(stop) => match stop.or(step).await {
                Ok(stepped) => stepped,
                Err(stopped) => Err(RunError::stopped(self.flow_path(), from, stopped)),
            },
        };
        if let (Some(watch), Err(error)) = (&self.context.watch, &stepped) {
            watch.tell(None, EventKind::Failed { error: error.to_string() });
        }
        let Some(action) = stepped? else {
            return Ok(Stepped::Ended(
                self.ended.clone().unwrap_or(Ended { action: Action::DEFAULT, steps: 0 }),
            ));
        };
        match self.node() {
            Some(to) => Ok(Stepped::Moved { from, action, to }),
            None => {
                let ended = Ended { action, steps: self.steps() };
                self.ended = Some(ended.clone());
                Ok(Stepped::Ended(ended))
            }
        }
    }

    /// Steps to the end. When it stops before, the run stays where it was and can go on.
    ///
    /// # Errors
    ///
    /// As [`step`](Run::step).
    pub async fn finish(&mut self, state: &mut S) -> Result<Ended, RunError> {
        loop {
            if let Stepped::Ended(ended) = self.step(state).await? {
                return Ok(ended);
            }
        }
    }

    /// Begins to tell what happens, once.
    fn watch(&mut self) {
        let Some(sink) = self.sink.take() else { return };
        let run = self.id.clone().unwrap_or_else(|| {
            static RUNS: AtomicU64 = AtomicU64::new(0);
            format!("run {}", RUNS.fetch_add(1, Ordering::Relaxed) + 1).into()
        });
        let watch = Watch { run, sink, started: Instant::now() };
        watch.tell(None, EventKind::RunStarted);
        self.context.watch = Some(watch);
    }
}

impl<S> fmt::Debug for Run<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("node", &self.node())
            .field("steps", &self.steps())
            .finish_non_exhaustive()
    }
}
