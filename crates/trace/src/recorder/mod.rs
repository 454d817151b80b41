//! Records what happens in a run.

mod chat;
mod earlier;
mod handle;
mod numbers;
pub(crate) mod settings;

use std::sync::{Arc, Mutex, PoisonError};

use cogwork_flow::watch::EventSink;
use cogwork_journal::{RunEvents, RunJournal, StoreError};

use crate::RecorderSettings;
use earlier::Earlier;
use handle::Handle;

/// Records what happens in one run, for people: in the journal of the run, or in memory.
///
/// The run never waits for this. The last events can be lost in a crash, and if the disk is too slow,
/// events are dropped, and counted. The run itself continues from its outcomes, and needs no event.
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_journal::Store;
/// use cogwork_trace::{RecorderSettings, RunRecorder};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let flow = Flow::from_node("greet", from_fn(|text: &mut String| text.push_str("Hello")))?;
///
/// let store = Store::files(folder.path());
/// let journal = store.start("greeting", &flow, &"").await?;
/// let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
/// flow.begin().with_journal(journal).with_events(&recorder).finish(&mut String::new()).await?;
/// recorder.flush().await?;
///
/// let events = store.events("greeting", 0).await?;
/// assert!(events[0].json.contains(r#""type":"opened""#));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RunRecorder {
    handle: Arc<Handle>,
    target: Target,
}

/// Where the events are recorded.
#[derive(Debug, Clone)]
enum Target {
    /// The journal of the run, which may have its outcomes as well.
    Journal {
        events: RunEvents,
        has_outcomes: bool,
    },
    Memory(Arc<Mutex<Vec<String>>>),
}

impl Target {
    /// Returns whether the outcomes of the run are kept in the same place.
    fn has_outcomes(&self) -> bool {
        matches!(
            self,
            Self::Journal {
                has_outcomes: true,
                ..
            }
        )
    }

    /// Adds an event. Returns whether it will be kept.
    fn push(&self, event: String) -> bool {
        match self {
            Self::Journal { events, .. } => events.push(event),
            Self::Memory(events) => {
                events
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(event);
                true
            }
        }
    }
}

impl RunRecorder {
    /// Records into the journal of a run. The events of other runs are ignored.
    ///
    /// If the run was recorded before, this goes on: what a replay repeats isn't recorded again, and what
    /// was [left out](RecorderSettings::without_content) stays so, also in a fork of the run.
    pub async fn new(journal: &RunJournal, settings: RecorderSettings) -> Self {
        let earlier = Earlier::of(journal).await;
        let target = Target::Journal {
            events: journal.events(),
            has_outcomes: true,
        };
        Self::to(target, earlier, settings)
    }

    /// Like [`new`](Self::new), and keeps the run in use while this or its sink exists. For a run whose
    /// outcomes are kept elsewhere, such as on Restate.
    pub async fn owning(journal: RunJournal, settings: RecorderSettings) -> Self {
        let earlier = Earlier::of(&journal).await;
        let target = Target::Journal {
            events: journal.into_events(),
            has_outcomes: false,
        };
        Self::to(target, earlier, settings)
    }

    /// Records a run that has no journal in memory. The events of all runs but the first are ignored.
    pub fn in_memory(settings: RecorderSettings) -> Self {
        Self::to(Target::Memory(Arc::default()), Earlier::default(), settings)
    }

    fn to(target: Target, earlier: Earlier, settings: RecorderSettings) -> Self {
        Self {
            handle: Arc::new(Handle::new(target.clone(), earlier, settings)),
            target,
        }
    }

    /// Returns where the run sends its events, for
    /// [`Run::with_events`](cogwork_flow::Run::with_events).
    pub fn sink(&self) -> EventSink {
        EventSink::new(Arc::clone(&self.handle))
    }

    /// Records the answer of the run, as its page shows it. Without this, the page shows the answer of
    /// the last step, if the loop, a strategy or an agent was there.
    pub fn record_answer(&self, text: &str) {
        self.handle.answer(text);
    }

    /// Returns the events that are in memory, as JSON. There are none if they are in a journal.
    pub fn events(&self) -> Vec<String> {
        match &self.target {
            Target::Journal { .. } => Vec::new(),
            Target::Memory(events) => events
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }

    /// Waits until everything so far is written.
    ///
    /// # Errors
    ///
    /// Returns an error if something could not be written.
    pub async fn flush(&self) -> Result<(), StoreError> {
        // Before waiting, so that the number of lost events is written as well.
        self.handle.finish();
        match &self.target {
            Target::Journal { events, .. } => events.written().await,
            Target::Memory(_) => Ok(()),
        }
    }
}

impl From<&RunRecorder> for EventSink {
    fn from(recorder: &RunRecorder) -> Self {
        recorder.sink()
    }
}
