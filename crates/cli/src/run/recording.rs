//! What is recorded of a run for people and tools.

use std::path::PathBuf;
use std::sync::Arc;

use cogwork_agents::{FileFlow, Loader};
use cogwork_journal::ForkOrigin;
use cogwork_text::{Escaped, Name};
use cogwork_trace::{ForkedFrom, RecorderSettings, RunRecorder, record_path};
use cogwork_typed::ask::Reporting;

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

    let settings = match origin {
        Some(origin) => settings(loaded).with_forked_from(forked_from(task, origin)),
        None => settings(loaded),
    };
    let settings = if task.options.no_content {
        settings.without_content()
    } else {
        settings
    };

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
    let has_model = match task.begin {
        Begin::Fork(arguments) => arguments.model.is_some(),
        _ => false,
    };
    origin_of(origin, has_model)
}

/// Returns where a run was forked from, as its record has it.
pub(crate) fn origin_of(origin: &ForkOrigin, has_model: bool) -> ForkedFrom {
    let mut changes = Vec::new();
    if has_model {
        changes.push("model".to_owned());
    }
    if origin.edited_state {
        changes.push("state".to_owned());
    }

    let outcomes = origin.edited_outcomes.iter();
    changes.extend(outcomes.map(|step| format!("outcome of {step}")));
    ForkedFrom::new(&origin.run_id, origin.step).with_changes(changes)
}

/// Returns the settings of all records that this program writes.
pub(crate) fn settings(loaded: &Arc<FileFlow>) -> RecorderSettings {
    let loaded = Arc::clone(loaded);
    RecorderSettings::default()
        .with_max_text(MAX_TEXT)
        .with_max_record(MAX_BYTES)
        .with_secrets(move |text| loaded.hide_secrets(text))
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
