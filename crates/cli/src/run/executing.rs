//! The execution of a run, from its first step to its exit code.

use std::sync::Arc;
use std::time::Duration;

use cogwork_agents::{AgentError, FileFlow, FlowState};
use cogwork_flow::watch::events;
use cogwork_flow::{CancellationToken, Ended as End, Paused, Run, RunError};
use cogwork_journal::{RunJournal, Store};
use cogwork_trace::RunRecorder;
use tokio::time::{Instant, sleep_until};

use super::answers::{self, Terminal};
use super::ending::{Ending, warn};
use super::hint::Hint;
use super::{new_id, progress, recording};
use crate::arguments::RunOptions;
use crate::output::{Ended, Exit, tell};
use crate::signals::cancelled_by_user;

/// A run that is about to be executed.
pub(super) struct Execution<'a> {
    pub(super) options: &'a RunOptions,
    pub(super) hint: Hint<'a>,
    pub(super) loaded: Arc<FileFlow>,
    pub(super) store: Option<&'a Store>,
}

impl Execution<'_> {
    pub(super) async fn execute(self, mut state: FlowState, journal: Option<RunJournal>) -> Ended {
        let Self {
            options,
            hint,
            loaded,
            store,
        } = &self;
        let id = hint.run_id.clone().unwrap_or_else(new_id);
        let input = &state.input().text;
        let recorder = recording::start(options, loaded, input, journal.as_ref()).await;
        if !options.quiet {
            hint.tell_start();
        }

        let token = CancellationToken::new();
        let watched = self.watched(&mut state, journal, &id, recorder.as_ref(), &token);
        let ended = cancelled_by_user(&token, watched).await;

        // The page has the end of the run, so it is written after it.
        let recorded = match &recorder {
            Some(recorder) => recording::finish(options, *store, &id, recorder).await,
            None => Ok(()),
        };
        let recorded = recorded.map_err(|error| Exit::after(&error));
        if !options.quiet {
            tell_spent(&state, ended.as_ref().err());
        }

        let ending = Ending::new(ended, loaded, &state);
        let run_id = hint.run_id.as_deref();
        // The answer comes first, and the warnings below it, where they are seen.
        let written = ending.write(options.json, &state, run_id);
        let written = written.map_err(|error| Exit::after(&error));
        warn(&state);

        ending.explain(hint, token.is_cancelled())?;
        written?;
        Ok(recorded?)
    }

    /// Runs the flow, and shows its progress. After an interruption, the progress is cleared, and the
    /// state can still be printed.
    async fn watched(
        &self,
        state: &mut FlowState,
        journal: Option<RunJournal>,
        id: &str,
        recorder: Option<&RunRecorder>,
        token: &CancellationToken,
    ) -> Result<End, RunError> {
        let mut run = self.loaded.flow().begin().with_id(id);
        run = run
            .with_max_steps(self.options.max_steps)
            .with_cancellation(token.clone());
        let timeout = self.options.timeout.map(Duration::from_secs);
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        if let Some(deadline) = deadline {
            run = run.with_deadline(deadline);
        }
        if let Some(journal) = journal {
            run = run.with_journal(journal);
        }
        if let Some(recorder) = recorder {
            run = run.with_events(recorder);
        }

        // More than happens while a terminal is slow; what doesn't fit is left out.
        let (mut sink, told) = events(10_000);
        if !progress::follows_texts(self.options) {
            sink = sink.without_growth();
        }
        let mut run = run.with_events(sink);
        let finished = async {
            let ended = self.finish(&mut run, state, token, deadline).await;
            // While the journal is open, which is closed with the run.
            if let (Some(recorder), Ok(_)) = (recorder, &ended)
                && let Ok(answer) = self.loaded.answer(state)
            {
                recorder.record_answer(&answer.text);
            }

            // This drops the sink, which ends the progress display.
            drop(run);
            ended
        };

        tokio::join!(finished, progress::show(told, self.options)).0
    }

    /// Runs the flow, and asks for answers on the terminal.
    async fn finish(
        &self,
        run: &mut Run<'_, FlowState>,
        state: &mut FlowState,
        token: &CancellationToken,
        deadline: Option<Instant>,
    ) -> Result<End, RunError> {
        // All are checked first: an answer that is left over could answer a later question.
        for (event, answer) in &self.options.answers {
            run.check_answer(event, answer)?;
        }
        // Answers are kept until the run waits for them.
        for (event, answer) in &self.options.answers {
            run.deliver(event, answer).await?;
        }

        let mut terminal = Terminal::open();
        loop {
            let error = match run.finish(state).await {
                Ok(ended) => return Ok(ended),
                Err(error) => error,
            };
            let (Some(asking), Some(paused)) = (&mut terminal, error.paused()) else {
                return Err(error);
            };

            let mut goes_on = false;
            for pause in [paused].into_iter().chain(&paused.also) {
                let is_answered = tokio::select! {
                    answered = answer(run, pause, asking) => answered?,
                    () = stopped(token, deadline) => false,
                };
                if !is_answered {
                    terminal = None;
                    break;
                }
                goes_on = true;
            }

            // The run still waits, and can be answered later. With some of its answers, it goes on first.
            if !goes_on {
                return Err(error);
            }
        }
    }
}

/// Prints what the visits of the run have spent, with the one that failed.
fn tell_spent(state: &FlowState, error: Option<&RunError>) {
    let failed = error.and_then(|error| error.downcast_ref::<AgentError>());
    let failed = failed.map(|failed| failed.visit().spent);
    let failed = failed.unwrap_or_default();

    let calls = state.calls().saturating_add(failed.calls);
    let tokens = state.usage().total_tokens() + failed.usage.total_tokens();
    if tokens > 0 {
        tell(format_args!("calls: {calls}, tokens: {tokens}"));
    }
}

/// Asks until there is an answer that the run can use, or the wait times out. Returns whether the run
/// can go on; otherwise there is nobody to ask.
async fn answer(
    run: &Run<'_, FlowState>,
    pause: &Paused,
    terminal: &mut Terminal,
) -> Result<bool, RunError> {
    loop {
        let answer = match terminal.ask(pause).await {
            Some(Some(answer)) => answer,
            timed_out => return Ok(timed_out.is_some()),
        };

        match run.deliver(&pause.event, &answer).await {
            Ok(()) => return Ok(true),
            Err(error) => tell(answers::refusal(&pause.event, &error).ok_or(error)?),
        }
    }
}

/// Waits until the user stops the run, or until its time is over.
async fn stopped(token: &CancellationToken, deadline: Option<Instant>) {
    let Some(deadline) = deadline else {
        return token.cancelled().await;
    };

    tokio::select! {
        () = token.cancelled() => {}
        () = sleep_until(deadline) => tell("\ncogwork: the time of --timeout is over"),
    }
}
