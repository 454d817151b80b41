//! Records a run while it is executed.
//!
//! [`handle`] gets the events and makes a [`line`] of each, with the [`texts`] as the settings want
//! them. A thread [writes](write) the lines, so that the run never waits for the disk.

mod chat;
mod handle;
mod line;
mod names;
mod open;
mod part;
pub(crate) mod record_path;
pub(crate) mod settings;
mod texts;
mod write;

use std::io;
use std::path::Path;
use std::sync::Arc;

use cogwork_flow::EventSink;

use crate::RecorderSettings;
use handle::Handle;
use open::OpenRecord;

/// Records one run as lines of JSON.
///
/// The lines are written by a thread, after a few milliseconds, and the run never waits for the disk.
/// A process that is killed may lose the lines of that time. If the disk is too slow, events are
/// dropped, and the record contains how many. An error of the disk doesn't fail the run;
/// [`flush`](Self::flush) returns it.
///
/// Clones record into the same file. When the last one is dropped, including the
/// [sinks](Self::sink), all lines have been written.
///
/// ```
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_trace::{RecordReader, RunRecorder, RecorderSettings};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("greeting.trace");
/// let flow = Flow::from_node("greet", from_fn(|text: &mut String| text.push_str("Hello")))?;
///
/// let recorder = RunRecorder::open(&path, RecorderSettings::default())?;
/// flow.begin().with_events(&recorder).finish(&mut String::new()).await?;
/// recorder.flush()?;
///
/// let events: Result<Vec<_>, _> = RecordReader::open(&path)?.collect();
/// assert_eq!(events?.last().map(|event| event.name.as_str()), Some("ended"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RunRecorder {
    handle: Arc<Handle>,
}

impl RunRecorder {
    /// Records into a file. If it contains a record already, the [run](Self::run) has to be the same
    /// one, and the record continues after it, so give runs [ids](cogwork_flow::Run::with_id) that
    /// don't repeat. An incomplete last line, as a crash leaves it, is removed.
    ///
    /// The record is locked with a lock of the operating system until the recorder is dropped. It can
    /// be read meanwhile.
    ///
    /// This may block on disk access; to continue a record, the file is read once.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened or created, or if it contains something other
    /// than a record, or a record of a newer version. The kind of the error is
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy) if another recorder, also one in another process,
    /// writes the record.
    pub fn open(path: impl AsRef<Path>, settings: RecorderSettings) -> io::Result<Self> {
        let record = OpenRecord::at(path.as_ref())?;
        let handle = Handle::new(record, settings)?;

        Ok(Self {
            handle: Arc::new(handle),
        })
    }

    /// Records into the file for a run in a folder: [`record_path`](crate::record_path). The folder
    /// is created if necessary, but not the folders around it.
    ///
    /// # Errors
    ///
    /// The same as [`open`](Self::open).
    pub fn in_folder(
        folder: impl AsRef<Path>,
        run_id: &str,
        settings: RecorderSettings,
    ) -> io::Result<Self> {
        let folder = folder.as_ref();
        cogwork_text::files::Folder::create(folder)?;
        Self::open(crate::record_path(folder, run_id), settings)
    }

    /// Returns where the run sends its events, for
    /// [`Run::with_events`](cogwork_flow::Run::with_events).
    pub fn sink(&self) -> EventSink {
        EventSink::new(Arc::clone(&self.handle))
    }

    /// Returns the id of the run that is recorded. `None` if the file was empty and the run hasn't
    /// started yet.
    pub fn run(&self) -> Option<String> {
        self.handle.run()
    }

    /// Waits until everything so far is written. This blocks the thread until then.
    ///
    /// # Errors
    ///
    /// Returns the first error of the disk, after which nothing was recorded any more, or an error
    /// if the recorder was used for another run than that of its record.
    pub fn flush(&self) -> io::Result<()> {
        self.handle.flush()
    }
}

impl From<&RunRecorder> for EventSink {
    fn from(recorder: &RunRecorder) -> Self {
        recorder.sink()
    }
}
