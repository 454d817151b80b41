//! What happened in a run as a page: one HTML file that opens from disk, without a network.

mod assets;
mod budget;
mod encode;
mod html;
mod parts;

pub use parts::PageParts;

use std::io::{self, Write};

use cogwork_journal::{Store, StoreError};
use cogwork_text::Name;
use serde_json::Value;

use crate::Header;

/// What happened in a run as a page.
///
/// The page is one HTML file without references to anything else. It contains the events, a style
/// and a script, and a policy that allows nothing but these, so text of a model cannot become
/// markup. It is at most a few megabytes large: texts of a long run are shortened, and if that
/// isn't enough, events in its middle are left out. The page shows what isn't in it; see
/// [`notes`](Self::notes).
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_trace::{Page, RecorderSettings, RunRecorder};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::from_node("greet", from_fn(|text: &mut String| text.push_str("Hello")))?;
///
/// let recorder = RunRecorder::in_memory(RecorderSettings::default());
/// flow.begin().with_events(&recorder).finish(&mut String::new()).await?;
/// let page = Page::from_events(recorder.events())?;
///
/// let mut html = Vec::new();
/// page.write(&mut html)?;
/// assert!(html.starts_with(b"<!DOCTYPE html>"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Page {
    header: Header,
    lines: Vec<String>,
    notes: Vec<String>,
}

/// Why there is no page of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The run doesn't exist, or the store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No events of the run were recorded.
    #[error(
        "no events of the run `{}` are on record: it was run without a recorder",
        Name(run_id)
    )]
    NoEvents {
        /// The id of the run; empty if it isn't known.
        run_id: String,
    },
}

impl Page {
    /// The default maximum number of bytes of the events: 48 MiB.
    pub const DEFAULT_MAX_BYTES: usize = 48 * 1024 * 1024;

    /// Makes a page of a run in a store, which may be in use.
    ///
    /// # Errors
    ///
    /// Returns an error if the run doesn't exist, if none of its events were recorded, or if the store
    /// cannot be read.
    pub async fn of_run(store: &Store, run_id: &str) -> Result<Self, PageError> {
        Self::of_run_with(store, run_id, Self::DEFAULT_MAX_BYTES).await
    }

    /// Makes a page of a run in a store, with at most so many bytes of its events. In the page, they
    /// are compressed, usually to less than a tenth.
    ///
    /// # Errors
    ///
    /// The same as [`of_run`](Self::of_run).
    pub async fn of_run_with(
        store: &Store,
        run_id: &str,
        max_bytes: usize,
    ) -> Result<Self, PageError> {
        let mut making = Making::default();
        let mut from = 0;
        loop {
            let events = store.events(run_id, from).await?;
            let Some(last) = events.last() else {
                return making.page(run_id, max_bytes);
            };
            from = last.next;
            events.into_iter().for_each(|event| making.add(event.json));
        }
    }

    /// Makes a page of the events of a run, each as JSON, and shows at most
    /// [`DEFAULT_MAX_BYTES`](Self::DEFAULT_MAX_BYTES) of them. What isn't an event is left out.
    ///
    /// # Errors
    ///
    /// Returns an error if they don't begin with a [`Header`].
    pub fn from_events(events: impl IntoIterator<Item = String>) -> Result<Self, PageError> {
        Self::from_events_with(events, Self::DEFAULT_MAX_BYTES)
    }

    /// Makes a page of at most so many bytes of the events of a run.
    ///
    /// # Errors
    ///
    /// The same as [`from_events`](Self::from_events).
    pub fn from_events_with(
        events: impl IntoIterator<Item = String>,
        max_bytes: usize,
    ) -> Result<Self, PageError> {
        let mut making = Making::default();
        events.into_iter().for_each(|event| making.add(event));
        making.page("", max_bytes)
    }

    /// Returns the header of the run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns what the page doesn't show, in sentences: damaged lines, texts that were shortened,
    /// and events that were left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Writes the page as HTML in UTF-8.
    ///
    /// # Errors
    ///
    /// Returns the error of the target.
    pub fn write(&self, target: impl Write) -> io::Result<()> {
        let record = encode::record(&self.header, &self.notes, &self.lines)?;
        html::write(&self.header, &record, target)
    }
}

/// A page to which events are added.
#[derive(Default)]
struct Making {
    header: Option<Header>,
    lines: Vec<String>,
    damaged: u64,
}

impl Making {
    fn add(&mut self, event: String) {
        if self.header.is_none() {
            self.header = Header::from_json(&event);
        } else if is_event(&event) {
            self.lines.push(event);
        } else {
            self.damaged += 1;
        }
    }

    fn page(self, run_id: &str, max_bytes: usize) -> Result<Page, PageError> {
        let Some(header) = self.header else {
            let run_id = run_id.to_owned();
            return Err(PageError::NoEvents { run_id });
        };

        let mut notes = Vec::new();
        if self.damaged > 0 {
            notes.push(format!(
                "Incomplete events, as after a crash, which are not shown: {}.",
                self.damaged
            ));
        }
        let (lines, too_large) = budget::fit(self.lines, max_bytes);
        notes.extend(too_large);

        Ok(Page {
            header,
            lines,
            notes,
        })
    }
}

/// Returns whether a line is the JSON of an event.
fn is_event(line: &str) -> bool {
    let Ok(Value::Object(event)) = serde_json::from_str(line) else {
        return false;
    };
    let fits = |name, is_right: fn(&Value) -> bool| event.get(name).is_none_or(is_right);
    event.contains_key("type")
        && fits("type", Value::is_string)
        && fits("step", Value::is_string)
        && fits("at", Value::is_number)
}
