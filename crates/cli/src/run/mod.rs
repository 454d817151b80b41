//! The commands `run` and `fork`.

mod answers;
mod ending;
mod executing;
mod forking;
mod hint;
mod progress;
mod recording;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_agents::{FileFlow, FlowState};
use cogwork_flow::BoxError;
use cogwork_flow::engine::Journal as _;
use cogwork_journal::{RunJournal, Store};
use cogwork_text::Name;
use serde_json::json;

use crate::arguments::{Fork, Run, RunOptions};
use crate::commands::loader;
use crate::output::{Ended, Exit, check_replaceable, hide_secrets_of, tell, write_json};
use crate::signals::stop;
use executing::Execution;
use forking::Edited;
use hint::Hint;

pub(crate) async fn run(arguments: &Run) -> Ended {
    let loaded = load(&arguments.file, &arguments.options).await?;
    let input = input(arguments.input.as_deref())?;
    let place = arguments.journal.as_deref();
    let store = place.map(Store::at).transpose()?;
    let flow = loaded.flow();
    if let (Some(node), None) = (loaded.needs_journal(), &store) {
        let node = Name(node);
        let problem = "may have to wait for answers, which needs a journal";
        return Err(format!("the node `{node}` {problem}; expected --journal PLACE").into());
    }
    if arguments.resume.is_none() {
        // Otherwise, the new run would exist, and the corrected command could not start it.
        for (event, answer) in &arguments.options.answers {
            flow.begin().check_answer(event, answer)?;
        }
    }

    let (state, journal) = match (&store, &arguments.resume) {
        (Some(store), Some(run_id)) => {
            let journal = store.resume(run_id, flow).await?;
            (journal.state()?, Some(journal))
        }
        (Some(store), None) => {
            let state = FlowState::new(input);
            let id = arguments.id.clone().unwrap_or_else(new_id);
            let journal = store.start(&id, flow, &state).await?;
            (state, Some(journal))
        }
        // The command line allows no other run to be resumed.
        (None, _) => (FlowState::new(input), None),
    };

    let run_id = journal.as_ref().map(|journal| journal.run_id().to_owned());
    let has_ended = journal.as_ref().is_some_and(RunJournal::has_ended);
    let execution = Execution {
        options: &arguments.options,
        hint: Hint {
            file: &arguments.file,
            // Without it, nobody is told to resume the run.
            place: place.filter(|_| !has_ended),
            run_id,
        },
        loaded,
        store: store.as_ref(),
    };
    execution.execute(state, journal).await
}

pub(crate) async fn fork(arguments: &Fork) -> Ended {
    let loaded = load(&arguments.file, &arguments.options).await?;
    let edited = Edited::new(arguments, loaded.flow()).await?;
    if arguments.show {
        return edited.show().await;
    }

    let journal = edited.start().await?;
    let run_id = Some(journal.run_id().to_owned());
    let execution = Execution {
        options: &arguments.options,
        hint: Hint {
            file: &arguments.file,
            place: Some(&arguments.journal),
            run_id,
        },
        loaded: Arc::clone(&loaded),
        store: Some(&edited.store),
    };
    execution.execute(journal.state()?, Some(journal)).await
}

/// Loads a flow, and starts the servers of tools that its file names. No message that follows shows
/// its secrets.
async fn load(file: &Path, options: &RunOptions) -> Result<Arc<FileFlow>, BoxError> {
    // The page is written after all calls are paid for.
    if let Some(page) = &options.page {
        check_replaceable(page)?;
    }
    let loaded = loader().with_process_environment().load(file)?;
    let loaded = Arc::new(loaded);
    // Before anything is printed about the run.
    hide_secrets_of(&loaded);

    // A server may take a minute to start.
    let (error, exit) = tokio::select! {
        connected = loaded.connect() => match connected {
            Ok(()) => return Ok(loaded),
            Err(error) => (error.to_string(), Exit::RunFailed),
        },
        () = stop() => ("interrupted while servers of tools were started".to_owned(), Exit::Interrupted),
    };
    tell(format_args!("cogwork: {error}"));
    if options.json {
        write_json(json!({"error": error}))?;
    }
    Err(exit.into())
}

/// Returns the input of a run, which `-` reads from standard input.
fn input(argument: Option<&str>) -> Result<String, String> {
    match argument.unwrap_or_default() {
        "-" => io::read_to_string(io::stdin())
            .map_err(|error| format!("the input could not be read: {error}")),
        text => Ok(text.to_owned()),
    }
}

/// Returns the id of a new run: the time in milliseconds and the process. Ids sort by time.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_millis();
    // Two runs may be started in the same millisecond.
    format!("{now}-{}", std::process::id())
}
