//! The commands `run` and `fork`.

mod answers;
mod costs;
mod ending;
mod executing;
mod forking;
mod hint;
mod progress;
mod recording;

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_agents::{FileFlow, FlowState, Template};
use cogwork_flow::BoxError;
use cogwork_flow::engine::Journal as _;
use cogwork_journal::Store;
use cogwork_text::Name;
use serde_json::json;
use tokio::io::AsyncReadExt;

use crate::arguments::{Fork, Run, RunOptions};
use crate::commands::loader;
use crate::output::{Ended, Exit, hide_secrets_of, tell, write_json};
use crate::signals::stop;
use crate::trace::check_page;
use executing::Execution;
use forking::Edited;
use hint::Hint;

pub(crate) async fn run(arguments: &Run) -> Ended {
    let loaded = load(&arguments.file, &arguments.options).await?;
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
        for (event, _) in &arguments.options.answers {
            flow.begin().check_event(event)?;
        }
    }

    let (state, journal) = match (&store, &arguments.resume) {
        (Some(store), Some(run_id)) => {
            let journal = store.resume(run_id, flow).await?;
            (journal.state()?, Some(journal))
        }
        (Some(store), None) => {
            let state = FlowState::new(input(arguments.input.as_deref()).await?);
            let id = arguments.id.clone().unwrap_or_else(new_id);
            let journal = store.start(&id, flow, &state).await?;
            (state, Some(journal))
        }
        // The command line allows no other run to be resumed.
        (None, _) => {
            let state = FlowState::new(input(arguments.input.as_deref()).await?);
            (state, None)
        }
    };

    let run_id = journal.as_ref().map(|journal| journal.run_id().to_owned());
    let execution = Execution {
        options: &arguments.options,
        hint: Hint {
            file: &arguments.file,
            place,
            run_id,
            max_steps: arguments.options.max_steps,
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
            max_steps: arguments.options.max_steps,
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
    options.page.as_deref().map_or(Ok(()), check_page)?;
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

/// The maximum number of bytes that are read from standard input. A longer input could not fill a
/// slot.
const MAX_INPUT: usize = Template::MAX_FILLED;

/// Returns the input of a run, which `-` reads from standard input.
async fn input(argument: Option<&str>) -> Result<String, BoxError> {
    let argument = argument.unwrap_or_default();
    if argument != "-" {
        return Ok(argument.to_owned());
    }

    let mut input = Vec::new();
    // One byte more tells a longer input from one that just fits.
    let mut stdin = tokio::io::stdin().take(MAX_INPUT as u64 + 1);
    let read = tokio::select! {
        read = stdin.read_to_end(&mut input) => read,
        () = stop() => return Err(Exit::Interrupted.into()),
    };
    read.map_err(|error| format!("the input could not be read: {error}"))?;

    // Before it is a text, since what was read may end in the middle of a character.
    if input.len() > MAX_INPUT {
        return Err(format!("the input is longer than {MAX_INPUT} bytes; expected less").into());
    }
    let input = String::from_utf8(input);
    Ok(input.map_err(|error| format!("the input could not be read: {error}"))?)
}

/// Returns the id of a new run: the time in milliseconds and the process. Ids sort by time.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_millis();
    // Two runs may be started in the same millisecond.
    format!("{now}-{}", std::process::id())
}
