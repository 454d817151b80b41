//! The four commands.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use cogwork_agents::{FileFlow, FlowState, Loader, Output, Template};
use cogwork_flow::{BoxError, CancellationToken, Ended, RunError, events};
use cogwork_text::{Escaped, Name};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::arguments::{Check, Draw, Format, Run, Schema};
use crate::output::{Outcome, tell, write};
use crate::{progress, summary};

/// The maximum number of bytes that are read from standard input. A longer input could not fill a
/// slot.
const MAX_INPUT: usize = Template::MAX_FILLED;

/// How long to wait at the end of the run for a file that is still being opened.
const LAST_WORK: Duration = Duration::from_secs(1);

pub(crate) fn check(arguments: &Check) -> Outcome {
    let loader = Loader::new();
    let loader = if arguments.no_environment {
        loader.without_clients()
    } else {
        loader.with_process_environment()
    };

    let mut outcome = Outcome::Success;
    for file in &arguments.files {
        outcome = match load(&loader, file) {
            Some(_) if outcome == Outcome::Success => write_ok(file),
            Some(_) => outcome,
            None => Outcome::Problems,
        };
    }

    outcome
}

fn write_ok(file: &Path) -> Outcome {
    let file = Escaped::new(file.display());
    write(format_args!("{file}: ok"))
}

pub(crate) fn draw(arguments: &Draw) -> Outcome {
    let Some(loaded) = load(&Loader::new().without_clients(), &arguments.file) else {
        return Outcome::Problems;
    };

    match arguments.format {
        Format::Mermaid => write(loaded.flow().mermaid()),
        Format::Graphviz => write(loaded.flow().graphviz()),
    }
}

pub(crate) fn schema(arguments: &Schema) -> Outcome {
    let loader = Loader::new();
    if arguments.fingerprint {
        write(loader.fingerprint())
    } else {
        write(format_args!("{:#}", loader.schema()))
    }
}

pub(crate) fn run(arguments: &Run) -> Outcome {
    let loader = Loader::new().with_process_environment();
    let Some(loaded) = load(&loader, &arguments.file) else {
        return Outcome::Problems;
    };

    let input = match input(&arguments.input) {
        Ok(input) => input,
        Err(message) => {
            tell(format_args!("cogwork: {message}"));
            return Outcome::NotReadOrWritten;
        }
    };

    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(format_args!(
                "cogwork: the run could not be started: {error}"
            ));
            return Outcome::RunFailed;
        }
    };

    let mut state = FlowState::new(input);
    let ended = runtime.block_on(work(&loaded, &mut state, arguments));

    // Without this limit, an unresponsive disk could delay the exit beyond the timeout.
    runtime.shutdown_timeout(LAST_WORK);
    let failed = match &ended {
        Err(error) if error.is_cancelled() => Outcome::Interrupted,
        _ => Outcome::RunFailed,
    };
    let ended: Result<_, BoxError> = match ended {
        Ok(ended) => loaded
            .answer(&state)
            .map(|answer| (answer, ended))
            .map_err(Into::into),
        Err(error) => Err(error.into()),
    };

    let written = match (&ended, arguments.json) {
        (_, true) => write(format_args!("{:#}", result(&loaded, &state, &ended))),
        (Ok((answer, _)), false) => write(&answer.text),
        (Err(_), false) => Outcome::Success,
    };

    warn(&loaded, &state);
    let Err(error) = ended else {
        return written;
    };

    tell(format_args!(
        "cogwork: {}",
        loaded.hide_secrets(&format!("{error:#}"))
    ));
    if failed == Outcome::Interrupted {
        for line in summary::lines(&state) {
            tell(format_args!("cogwork: {}", loaded.hide_secrets(&line)));
        }
    }

    failed
}

/// Prints warnings about problems that didn't end the run but affect its answer.
fn warn(loaded: &FileFlow, state: &FlowState) {
    for (node, said) in state.outputs() {
        let node = Name(node);

        if said.truncated {
            tell(format_args!(
                "cogwork: the output of `{node}` is cut off, by the token limit or a filter"
            ));
        }

        let failures = said
            .thinking
            .iter()
            .flat_map(|report| &report.memory_failures);

        // A memory that cannot be opened fails for every search and every addition.
        for failure in failures.collect::<BTreeSet<_>>() {
            let failure = loaded.hide_secrets(failure);
            tell(format_args!(
                "cogwork: `{node}` went without its memory: {failure}"
            ));
        }
    }
}

/// Loads the flow of a file, or prints its problems.
fn load(loader: &Loader, file: &Path) -> Option<FileFlow> {
    let problems = match loader.load(file) {
        Ok(loaded) => return Some(loaded),
        Err(error) => error,
    };
    problems.problems().iter().for_each(tell);
    None
}

fn input(argument: &str) -> Result<String, String> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }

    let mut input = String::new();
    let most = u64::try_from(MAX_INPUT).unwrap_or(u64::MAX);
    let read = io::stdin()
        .lock()
        .take(most.saturating_add(1))
        .read_to_string(&mut input);
    read.map_err(|error| format!("the input could not be read: {error}"))?;

    if input.len() <= MAX_INPUT {
        Ok(input)
    } else {
        Err(format!(
            "the input is longer than {MAX_INPUT} bytes; expected less"
        ))
    }
}

/// Runs the flow until it ends or the user interrupts it. After an interruption, the progress is
/// cleared, and the state can still be printed.
async fn work(
    loaded: &FileFlow,
    state: &mut FlowState,
    arguments: &Run,
) -> Result<Ended, RunError> {
    let token = CancellationToken::new();
    let interrupted = async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => token.cancel(),
            Err(error) => tell(format_args!(
                "cogwork: Ctrl-C will stop the program without cleaning up: {error}"
            )),
        }

        std::future::pending().await
    };

    tokio::select! {
        // Biased, so that the signal handler is installed before the run starts.
        biased;
        never = interrupted => never,
        ended = finish(loaded, state, arguments, token.clone()) => ended,
    }
}

async fn finish(
    loaded: &FileFlow,
    state: &mut FlowState,
    arguments: &Run,
    token: CancellationToken,
) -> Result<Ended, RunError> {
    let mut run = loaded
        .flow()
        .begin()
        .with_max_steps(arguments.max_steps)
        .with_cancellation(token);

    if let Some(seconds) = arguments.timeout {
        run = run.with_deadline(Instant::now() + Duration::from_secs(seconds));
    }

    if arguments.quiet {
        return run.finish(state).await;
    }

    let (sink, told) = events(10_000);
    let mut run = run.with_events(sink);
    let finished = async {
        let ended = run.finish(state).await;

        // This drops the sink, which ends the progress display.
        drop(run);
        ended
    };

    let (ended, ()) = tokio::join!(finished, progress::show(told, loaded));
    ended
}

/// Returns everything about a run, without values from the environment.
fn result(
    loaded: &FileFlow,
    state: &FlowState,
    ended: &Result<(Output, Ended), BoxError>,
) -> Value {
    let mut result = match ended {
        Ok((answer, ended)) => json!({
            "answer": answer.text,
            "action": ended.action,
            "steps": ended.steps,
            "state": state,
        }),
        Err(error) => json!({"error": error.to_string(), "state": state}),
    };

    hide(&mut result, loaded);
    result
}

fn hide(value: &mut Value, loaded: &FileFlow) {
    match value {
        Value::String(text) => *text = loaded.hide_secrets(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, loaded)),
        Value::Object(entries) => entries.values_mut().for_each(|entry| hide(entry, loaded)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
