//! The execution of a run, from its first step to its exit code.

use std::sync::Arc;
use std::time::Duration;

use cogwork_agents::{FileFlow, FlowState};
use cogwork_flow::watch::events;
use cogwork_flow::{CancellationToken, Ended as End, Run, RunError};
use cogwork_journal::{RunJournal, Store};
use cogwork_trace::RunRecorder;
use tokio::time::Instant;

use super::answers::{self, Terminal};
use super::costs::Costs;
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
        let recorded = store.zip(journal.as_ref());
        let recorder = recording::start(options, loaded, &state.input().text, recorded).await;
        if !options.quiet {
            hint.tell_start();
        }

        let token = CancellationToken::new();
        let watched = self.watched(&mut state, journal, &id, recorder.as_ref(), &token);
        let (ended, costs) = cancelled_by_user(&token, watched).await;

        // The page has the end of the run, so it is written after it.
        let recorded = match &recorder {
            Some(recorder) => recording::finish(options, *store, &id, recorder).await,
            None => Ok(()),
        };
        let recorded = recorded.map_err(|error| Exit::after(&error));
        if let Some(line) = costs.line().filter(|_| !options.quiet) {
            tell(line);
        }

        let ending = Ending::new(ended, loaded, &state);
        let run_id = hint.run_id.as_deref();
        // The answer comes first, and the warnings below it, where they are seen.
        let written = ending.write(options.json, &state, run_id, &costs);
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
    ) -> (Result<End, RunError>, Costs) {
        let mut run = self.loaded.flow().begin().with_id(id);
        run = run
            .with_max_steps(self.options.max_steps)
            .with_cancellation(token.clone());
        if let Some(seconds) = self.options.timeout {
            run = run.with_deadline(Instant::now() + Duration::from_secs(seconds));
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
            let ended = self.finish(&mut run, state, token).await;
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

        tokio::join!(finished, progress::show(told, self.options))
    }

    /// Runs the flow, and asks for answers on the terminal.
    async fn finish(
        &self,
        run: &mut Run<'_, FlowState>,
        state: &mut FlowState,
        token: &CancellationToken,
    ) -> Result<End, RunError> {
        // All are checked first: an answer that is left over could answer a later question.
        for (event, _) in &self.options.answers {
            run.check_event(event)?;
        }
        // Answers are kept until the run waits for them.
        for (event, answer) in &self.options.answers {
            run.deliver(event, answer).await?;
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

            // A run that could not read an answer waits for another one.
            if let Some(refusal) = answers::refusal(&error).filter(|_| has_answered) {
                has_answered = false;
                tell(refusal);
                continue;
            }

            let answers = match error.paused() {
                Some(paused) => tokio::select! {
                    answers = terminal.ask(paused) => answers,
                    () = token.cancelled() => None,
                },
                None => None,
            };
            let Some(answers) = answers else {
                return Err(error);
            };

            for (event, answer) in answers {
                if let Err(error) = run.deliver(&event, &answer).await {
                    // The run still waits for the event, so that it is asked for again.
                    tell(answers::refusal(&error).ok_or(error)?);
                }
            }
            has_answered = true;
        }
    }
}
