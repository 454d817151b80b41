//! What is recorded of a run for people and tools.

use std::path::PathBuf;
use std::sync::Arc;

use cogwork_agents::{FileFlow, Loader};
use cogwork_ask::Reporting;
use cogwork_journal::ForkOrigin;
use cogwork_text::{Escaped, Name};
use cogwork_trace::{ForkedFrom, RecorderSettings, RunRecorder, record_path};

use super::task::{Begin, Task};
use crate::output::tell;

/// The maximum number of bytes of the record of a run.
const MAX_BYTES: u64 = 64 << 20;

/// The maximum number of bytes of a text.
const MAX_TEXT: usize = 32 * 1024;

/// Returns a loader whose clients report their calls.
pub(crate) fn report(loader: Loader) -> Loader {
    loader.with_client_wrapper(|_, client| Arc::new(Reporting::new(client)))
}

/// Opens the record of a run: the file that the user named, or the one next to the journal. Returns
/// `None` if the user wants none.
pub(super) fn open(
    task: &Task<'_>,
    loaded: &Arc<FileFlow>,
    run_id: &str,
    origin: Option<&ForkOrigin>,
) -> Result<Option<RunRecorder>, String> {
    let Some(path) = path(task, run_id) else {
        return Ok(None);
    };
    let shown = Escaped::new(path.display()).to_string();

    let mut settings = settings(task, loaded);
    if let Some(origin) = origin {
        settings = settings.with_forked_from(forked_from(task, origin));
    }

    let recorder = RunRecorder::open(&path, settings);
    let recorder =
        recorder.map_err(|error| format!("the record could not be opened: {shown}: {error}"))?;

    match recorder.run() {
        Some(other) if other != loaded.hide_secrets(run_id) => Err(format!(
            "{shown} is the record of the run `{}`; choose another file",
            Name(&other)
        )),
        _ => Ok(Some(recorder)),
    }
}

fn path(task: &Task<'_>, run_id: &str) -> Option<PathBuf> {
    if task.options.no_record {
        return None;
    }

    let next_to_journal = || Some(record_path(task.journal?, run_id));
    task.options.record.clone().or_else(next_to_journal)
}

fn forked_from(task: &Task<'_>, origin: &ForkOrigin) -> ForkedFrom {
    let mut changes = Vec::new();
    if let Begin::Fork(arguments) = task.begin {
        changes.extend(arguments.model.as_ref().map(|_| "model".to_owned()));
    }
    if origin.edited_state {
        changes.push("state".to_owned());
    }

    let outcomes = origin.edited_outcomes.iter();
    changes.extend(outcomes.map(|step| format!("outcome of {step}")));
    ForkedFrom::new(&origin.run_id, origin.step).with_changes(changes)
}

fn settings(task: &Task<'_>, loaded: &Arc<FileFlow>) -> RecorderSettings {
    let loaded = Arc::clone(loaded);
    let settings = RecorderSettings::default()
        .with_max_text(MAX_TEXT)
        .with_max_record(MAX_BYTES)
        .with_secrets(move |text| loaded.hide_secrets(text));

    if task.options.no_content {
        settings.without_content()
    } else {
        settings
    }
}

/// Writes what is left. Returns whether everything was written.
pub(super) fn finish(recorder: Option<RunRecorder>) -> bool {
    let Some(recorder) = recorder else {
        return true;
    };

    match recorder.flush() {
        Ok(()) => true,
        Err(error) => {
            tell(format_args!(
                "cogwork: the record could not be written: {error}"
            ));
            false
        }
    }
}
