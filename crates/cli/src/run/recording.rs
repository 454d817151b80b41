//! What happens in a run, for people.

use std::path::Path;
use std::sync::Arc;

use cogwork_agents::{FileFlow, FlowState};
use cogwork_journal::{RunJournal, Store};
use cogwork_trace::{Page, RecorderSettings, RunRecorder};

use crate::arguments::RunOptions;
use crate::output::{Ended, Exit};
use crate::trace::write_page;

/// Records what happens in a run: in its journal or, for a page of a run without one, in memory.
/// Returns `None` if the user wants neither.
pub(super) fn start(
    options: &RunOptions,
    loaded: &Arc<FileFlow>,
    input: &str,
    journal: Option<&RunJournal>,
) -> Option<RunRecorder> {
    if options.no_events {
        return None;
    }

    let hiding = Arc::clone(loaded);
    let mut settings = RecorderSettings::default()
        .with_secrets(move |text| hiding.hide_secrets(text))
        .with_input(input);
    if options.no_content {
        settings = settings.without_content();
    }

    match journal {
        // A journal keeps the events of every part of the run, also of parts that ended earlier.
        Some(journal) => Some(RunRecorder::new(journal, settings)),
        None if options.page.is_some() => Some(RunRecorder::in_memory(settings)),
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

/// Writes what is left, and the page if the user wants one. Prints what couldn't be written.
pub(super) async fn finish(
    options: &RunOptions,
    place: Option<&str>,
    run_id: &str,
    recorder: Option<RunRecorder>,
) -> Ended {
    let Some(recorder) = recorder else {
        return Ok(());
    };

    let flushed = recorder.flush().await;
    let flushed = flushed.map_err(|error| format!("what happened could not be written: {error}"));
    let page = match &options.page {
        Some(path) => make_page(place, run_id, &recorder, path).await,
        None => Ok(()),
    };

    let mut ended = Ok(());
    for error in [flushed.err().map(Into::into), page.err()]
        .into_iter()
        .flatten()
    {
        ended = Err(Exit::after(&error).into());
    }
    ended
}

async fn make_page(
    place: Option<&str>,
    run_id: &str,
    recorder: &RunRecorder,
    path: &Path,
) -> Ended {
    let page = match place {
        // A resumed run has a page of all of it.
        Some(place) => Page::of_run(&Store::at(place)?, run_id).await?,
        None => Page::from_events(recorder.events())?,
    };
    write_page(&page, path)
}
