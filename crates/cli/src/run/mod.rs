//! The command `run`.

mod answers;
mod costs;
mod forking;
mod input;
mod progress;
pub(crate) mod record;
mod recording;
mod result;
pub(crate) mod stream;
mod task;
pub(crate) mod thinking;

use std::sync::Arc;
use std::time::Duration;

use cogwork_agents::{FileFlow, FlowState, Loader};
use cogwork_flow::engine::Journal as _;
use cogwork_flow::watch::events;
use cogwork_flow::{CancellationToken, Ended, RunError};
use cogwork_journal::RunJournal;
use cogwork_trace::RunRecorder;
use tokio::time::Instant;

use crate::arguments::{Fork, Run, RunOptions};
use crate::commands::{load, loader};
use crate::output::{Outcome, runtime, tell, write};
use answers::Terminal;
use costs::Costs;
pub(crate) use forking::NO_MODELS;
use result::Result;
use task::{Begin, Task};

/// How long to wait at the end of the run for a file that is still being opened.
const LAST_WORK: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &Run) -> Outcome {
    let begin = match (&arguments.resume, &arguments.input) {
        (Some(run_id), _) => Begin::Resume(run_id),
        (None, input) => Begin::Input {
            input: input.as_deref().unwrap_or_default(),
            id: arguments.id.as_deref(),
        },
    };

    let task = Task {
        file: &arguments.file,
        journal: arguments.journal.as_deref(),
        begin,
        options: &arguments.options,
    };
    execute(&task, loader())
}

pub(crate) fn fork(arguments: &Fork) -> Outcome {
    let loader = match &arguments.model {
        Some(model) => loader().with_model(model),
        None => loader(),
    };

    let task = Task {
        file: &arguments.file,
        journal: Some(&arguments.journal),
        begin: Begin::Fork(arguments),
        options: &arguments.options,
    };
    execute(&task, loader)
}

fn execute(task: &Task<'_>, loader: Loader) -> Outcome {
    let loader = loader.with_process_environment();

    let Some(loaded) = load(&loader, task.file).map(Arc::new) else {
        return Outcome::Problems;
    };

    match start(task, &loaded) {
        Ok(outcome) => outcome,
        Err(error) => {
            tell(format_args!(
                "cogwork: {}",
                loaded.hide_secrets(&format!("{error:#}"))
            ));
            Outcome::NotReadOrWritten
        }
    }
}

/// Returns whether the arguments can be used with this file.
fn check(task: &Task<'_>, loaded: &FileFlow) -> std::result::Result<(), String> {
    let Begin::Fork(fork) = task.begin else {
        return Ok(());
    };
    if fork.model.is_some() && !loaded.has_models() {
        return Err(format!("--model: {NO_MODELS}"));
    }
    Ok(())
}

/// Returns an error if the run could not be started.
fn start(task: &Task<'_>, loaded: &Arc<FileFlow>) -> Result<Outcome> {
    check(task, loaded)?;
    let options = task.options;
    let input = match task.begin {
        Begin::Input { input, .. } => input::read(input)?,
        Begin::Resume(_) | Begin::Fork(_) => String::new(),
    };

    let runtime = runtime()?;

    if let Some(outcome) = runtime.block_on(connect(loaded)) {
        return Ok(outcome);
    }

    if let Begin::Fork(fork) = task.begin
        && fork.show
    {
        return runtime.block_on(forking::show(fork, loaded));
    }

    let mut state = FlowState::new(input);
    let journal = runtime.block_on(record::open(task, loaded, &state))?;
    if let Some(journal) = &journal {
        state = journal.state()?;
    }

    let run_id = journal.as_ref().map(|journal| journal.run_id().to_owned());
    let id = run_id.clone().unwrap_or_else(record::new_id);
    let recorder = recording::start(task, loaded, &state.input().text, journal.as_ref());
    let hint = record::Hint::new(task, run_id);

    if !options.quiet {
        hint.tell_start();
    }

    let token = CancellationToken::new();
    let running = Running {
        options,
        loaded,
        id: id.clone(),
        recorder: recorder.as_ref(),
        token: token.clone(),
    };
    let (ended, costs) = runtime.block_on(running.until_interrupted(&mut state, journal));
    let is_recorded = runtime.block_on(recording::finish(task, &id, recorder));

    // Without this limit, an unresponsive disk could delay the exit beyond the timeout.
    runtime.shutdown_timeout(LAST_WORK);

    let is_interrupted = token.is_cancelled();
    if !options.quiet
        && let Some(line) = costs.line()
    {
        tell(line);
    }
    let outcome = tell_end(task, loaded, &state, &hint, &costs, ended, is_interrupted);

    Ok(match outcome {
        Outcome::Success if !is_recorded => Outcome::NotReadOrWritten,
        outcome => outcome,
    })
}

/// Starts the servers of tools that the file names. Returns an outcome if there is to be no run.
async fn connect(loaded: &FileFlow) -> Option<Outcome> {
    let connected = tokio::select! {
        connected = loaded.connect() => connected,
        Ok(()) = tokio::signal::ctrl_c() => return Some(Outcome::Interrupted),
    };

    let error = connected.err()?;
    tell(format_args!("cogwork: {error}"));
    Some(Outcome::RunFailed)
}

/// Prints how a run has ended or stopped.
fn tell_end(
    task: &Task<'_>,
    loaded: &FileFlow,
    state: &FlowState,
    hint: &record::Hint<'_>,
    costs: &Costs,
    ended: std::result::Result<Ended, RunError>,
    is_interrupted: bool,
) -> Outcome {
    let outcome = match &ended {
        Ok(_) => Outcome::Success,
        Err(error) if error.is_cancelled() || is_interrupted => Outcome::Interrupted,
        Err(error) if error.paused().is_some() => Outcome::Waiting,
        Err(_) => Outcome::RunFailed,
    };
    let paused = ended.as_ref().err().and_then(RunError::paused).cloned();

    let ended: Result = match ended {
        Ok(ended) => loaded
            .answer(state)
            .map(|answer| (answer, ended))
            .map_err(Into::into),
        Err(error) => Err(error.into()),
    };

    let written = match (&ended, task.options.json) {
        (_, true) => {
            let mut result = result::of(loaded, state, hint, &ended, paused.as_ref());
            if let Some(entries) = result.as_object_mut() {
                entries.insert("costs".to_owned(), costs.json());
            }
            write(format_args!("{result:#}"))
        }
        (Ok((answer, _)), false) => write(&answer.text),
        (Err(_), false) => Outcome::Success,
    };

    result::warn(loaded, state);
    match (ended, paused) {
        (Ok(_), _) => written,
        (Err(_), Some(paused)) => {
            hint.tell_pause(&paused);
            outcome
        }
        (Err(error), None) => {
            tell(format_args!(
                "cogwork: {}",
                loaded.hide_secrets(&format!("{error:#}"))
            ));
            hint.tell_stop();

            // An answer that cannot be filled in is an error of a run that has ended.
            if outcome == Outcome::Success {
                Outcome::RunFailed
            } else {
                outcome
            }
        }
    }
}

struct Running<'r> {
    options: &'r RunOptions,
    loaded: &'r Arc<FileFlow>,
    id: String,
    recorder: Option<&'r RunRecorder>,
    /// Cancelled when the user presses Ctrl-C.
    token: CancellationToken,
}

impl Running<'_> {
    /// Runs the flow until it ends or the user interrupts it. After an interruption, the progress
    /// is cleared, and the state can still be printed.
    async fn until_interrupted(
        &self,
        state: &mut FlowState,
        journal: Option<RunJournal>,
    ) -> (std::result::Result<Ended, RunError>, Costs) {
        let token = self.token.clone();
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
            ended = self.watched(state, journal, token.clone()) => ended,
        }
    }

    async fn watched(
        &self,
        state: &mut FlowState,
        journal: Option<RunJournal>,
        token: CancellationToken,
    ) -> (std::result::Result<Ended, RunError>, Costs) {
        let mut run = self
            .loaded
            .flow()
            .begin()
            .with_id(self.id.as_str())
            .with_max_steps(self.options.max_steps)
            .with_cancellation(token.clone());

        if let Some(seconds) = self.options.timeout {
            run = run.with_deadline(Instant::now() + Duration::from_secs(seconds));
        }
        if let Some(journal) = journal {
            run = run.with_journal(journal);
        }

        if let Some(recorder) = self.recorder {
            run = run.with_events(recorder);
        }

        let (sink, told) = events(10_000);
        let mut run = run.with_events(sink);
        let finished = async {
            let ended = self.finish(&mut run, state, &token).await;
            if let (Some(recorder), Ok(_)) = (self.recorder, &ended) {
                recording::record_answer(recorder, self.loaded, state);
            }

            // This drops the sink, which ends the progress display.
            drop(run);
            ended
        };

        let shown = progress::show(told, self.options, self.loaded);
        tokio::join!(finished, shown)
    }

    /// Runs the flow, and asks for answers on the terminal.
    async fn finish(
        &self,
        run: &mut cogwork_flow::Run<'_, FlowState>,
        state: &mut FlowState,
        token: &CancellationToken,
    ) -> std::result::Result<Ended, RunError> {
        for answer in &self.options.answers {
            run.deliver(&answer.name, &answer.value).await?;
        }

        let mut terminal = Terminal::open();
        let mut has_answered = false;
        loop {
            let error = match run.finish(state).await {
                Ok(ended) => return Ok(ended),
                Err(error) => error,
            };
            let Some(terminal) = &mut terminal else {
                return Err(error);
            };

            if let Some(paused) = error.paused() {
                let asked = terminal.ask(paused);
                let answers = tokio::select! {
                    answers = asked => answers,
                    () = token.cancelled() => None,
                };
                let Some(answers) = answers else {
                    return Err(error);
                };

                for (event, answer) in answers {
                    run.deliver(&event, &answer).await?;
                }
                has_answered = true;
            } else if has_answered && answers::is_refusal(&error) {
                has_answered = false;
                tell(format_args!(
                    "cogwork: {}",
                    self.loaded.hide_secrets(&error.to_string())
                ));
            } else {
                return Err(error);
            }
        }
    }
}
