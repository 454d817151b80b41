//! What happens in a run, for people.

use std::path::Path;
use std::sync::Arc;

use cogwork_agents::{FileFlow, FlowState};
use cogwork_journal::{RunJournal, Store};
use cogwork_trace::{Page, RecorderSettings, RunRecorder};

use super::task::Task;
use crate::output::tell;

/// Records what happens in a run: in its journal or, for a page of a run without one, in memory.
/// Returns `None` if the user wants neither.
pub(super) fn start(
    task: &Task<'_>,
    loaded: &Arc<FileFlow>,
    input: &str,
    journal: Option<&RunJournal>,
) -> Option<RunRecorder> {
    if task.options.no_events {
        return None;
    }

    let hiding = Arc::clone(loaded);
    let mut settings = RecorderSettings::default()
        .with_secrets(move |text| hiding.hide_secrets(text))
        .with_input(input);
    if task.options.no_content {
        settings = settings.without_content();
    }

    match journal {
        Some(journal) => Some(RunRecorder::new(journal, settings)),
        None if task.options.page.is_some() => Some(RunRecorder::in_memory(settings)),
        None => None,
    }
}

/// Records the answer of a run that has ended. The journal must still be open.
pub(crate) fn record_answer(recorder: &RunRecorder, loaded: &FileFlow, state: &FlowState) {
    // If it cannot be filled in, whoever prints it reports the error.
    if let Ok(answer) = loaded.answer(state) {
        recorder.record_answer(&answer.text);
    }
}

/// Writes what is left, and the page if the user wants one. Returns whether everything was written.
pub(super) async fn finish(task: &Task<'_>, run_id: &str, recorder: Option<RunRecorder>) -> bool {
    let Some(recorder) = recorder else {
        return true;
    };

    let flushed = recorder.flush().await;
    let flushed = flushed.map_err(|error| format!("what happened could not be written: {error}"));
    let page = match &task.options.page {
        Some(path) => make_page(task, run_id, &recorder, path).await,
        None => Ok(()),
    };

    let mut is_written = true;
    for error in [flushed.err(), page.err()].into_iter().flatten() {
        tell(format_args!("cogwork: {error}"));
        is_written = false;
    }
    is_written
}

async fn make_page(
    task: &Task<'_>,
    run_id: &str,
    recorder: &RunRecorder,
    path: &Path,
) -> Result<(), String> {
    let page = match task.journal {
        Some(place) => {
            let store = Store::at(place).map_err(|error| error.to_string())?;
            Page::of_run(&store, run_id).await
        }
        None => Page::from_events(recorder.events()),
    };
    let page = page.map_err(|error| error.to_string())?;
    crate::trace::write(&page, path)
}
