//! What happened in a run as a page: one HTML file that opens from disk, without a network.

mod assets;
mod encode;
mod html;
mod parts;

pub use parts::PageParts;

use std::io::{self, Write};

use cogwork_journal::{Store, StoreError};
use cogwork_text::Name;
use serde_json::value::RawValue;

use crate::{EventReader, Header, LeftOut};

/// What happened in a run as a page.
///
/// The page is one HTML file without references to anything else. It contains the events, a style
/// and a script, and a policy that allows nothing but these, so text of a model cannot become
/// markup.
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
        "no events of the run `{}` are on record; expected a run without `--no-events`, or of a \
         program with a `RunRecorder`",
        Name(run_id)
    )]
    NoEvents {
        /// The id of the run; empty if it isn't known.
        run_id: String,
    },
}

impl Page {
    /// Makes a page of a run in a store, which may be in use.
    ///
    /// # Errors
    ///
    /// Returns an error if the run doesn't exist, if none of its events were recorded, or if the store
    /// cannot be read.
    pub async fn of_run(store: &Store, run_id: &str) -> Result<Self, PageError> {
        let mut reader = EventReader::new(store, run_id, 0);
        let mut all = Vec::new();
        loop {
            let events = reader.next().await?;
            if events.is_empty() {
                return Self::of(run_id, all);
            }
            all.extend(events.into_iter().map(|event| event.json));
        }
    }

    /// Makes a page of the events of a run, each as JSON. What isn't JSON is left out.
    ///
    /// # Errors
    ///
    /// Returns an error if they don't begin with a [`Header`].
    pub fn from_events(events: impl IntoIterator<Item = String>) -> Result<Self, PageError> {
        Self::of("", events)
    }

    fn of(run_id: &str, events: impl IntoIterator<Item = String>) -> Result<Self, PageError> {
        let mut events = events.into_iter();
        let header = events.find_map(|event| Header::from_json(&event));
        let header = header.filter(|header| header.left_out < Some(LeftOut::Events));
        let header = header.ok_or_else(|| PageError::NoEvents {
            run_id: run_id.to_owned(),
        })?;

        // A crash may have cut one off.
        // A `RawValue` is checked without keeping what is in it.
        let is_whole = |event: &String| serde_json::from_str::<&RawValue>(event).is_ok();
        let lines = events.filter(is_whole).collect();
        Ok(Self { header, lines })
    }

    /// Writes the page as HTML in UTF-8.
    ///
    /// # Errors
    ///
    /// Returns the error of the target.
    pub fn write(&self, target: impl Write) -> io::Result<()> {
        let record = encode::record(&self.header, &self.lines)?;
        html::write(&self.header, &record, target)
    }
}
