//! What happens in a run, for people.

use std::sync::Arc;

use cogwork_agents::FileFlow;
use cogwork_journal::{RunJournal, Store};
use cogwork_trace::{Page, RecorderSettings, RunRecorder};

use crate::arguments::RunOptions;
use crate::output::{Ended, Exit};
use crate::trace::write_page;

/// Records what happens in a run: in its journal or, for a page of a run without one, in memory.
/// Returns `None` if there is neither.
pub(super) async fn start(
    options: &RunOptions,
    loaded: &Arc<FileFlow>,
    input: &str,
    journal: Option<&RunJournal>,
) -> Option<RunRecorder> {
    let hiding = Arc::clone(loaded);
    let mut settings = RecorderSettings::default()
        .with_secrets(move |text| hiding.hide_secrets(text))
        .with_input(input);
    if options.no_content {
        settings = settings.without_content();
    }
    if options.no_events {
        settings = settings.without_events();
    }

    match journal {
        // A journal keeps the events of every part of the run, also of parts that ended earlier.
        Some(journal) => Some(RunRecorder::new(journal, settings).await),
        None if options.page.is_some() => Some(RunRecorder::in_memory(settings)),
        None => None,
    }
}

/// Writes what is left, and the page if the user wants one. Prints why events couldn't be written.
pub(super) async fn finish(
    options: &RunOptions,
    store: Option<&Store>,
    run_id: &str,
    recorder: &RunRecorder,
) -> Ended {
    let flushed = recorder.flush().await.map_err(|error| {
        let problem = format!("what happened could not be written: {error}");
        // Now, since the page may have a problem of its own.
        Exit::after(&problem.into())
    });

    // Also if an event is missing.
    if let Some(path) = &options.page {
        let page = match store {
            // A resumed run has a page of all of it.
            Some(store) => Page::of_run(store, run_id).await?,
            None => Page::from_events(recorder.events())?,
        };
        write_page(&page, path)?;
    }

    Ok(flushed?)
}
