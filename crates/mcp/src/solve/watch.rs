//! Recording a run while it goes on.

use cogwork_strategies::Spent;
use cogwork_text::OneLine;
use serde::Serialize;
use tokio::sync::mpsc;

use super::entry::{SolveEnd, SolveEntry, SolveStep, SolveThought};
use super::request::SolveRequest;
use super::state::Recorded;
use crate::store::{Change, NewSession, Owner, SessionId, SessionKind, SessionStore, StoreError};

/// The maximum number of characters of a title, and of a thought in a progress notification.
const LINE: usize = 200;

/// How many notifications wait for a slow client. Further ones are left out.
const WAITING: usize = 64;

/// A thought that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Progress {
    /// The number of thoughts so far.
    pub(super) thoughts: usize,
    /// The stage and the beginning of the thought, on one line.
    pub(super) line: String,
}

/// Writes a run to its session.
pub(super) struct Watch {
    store: SessionStore,
    owner: Owner,
    pub(super) id: SessionId,
    entries: u64,
    pub(super) recorded: Recorded,
    /// The thoughts that were reported as progress.
    reported: usize,
    progress: mpsc::Sender<Progress>,
    spent: Spent,
    /// The last error of the store, if what followed wasn't stored either.
    problem: Option<StoreError>,
}

impl Watch {
    /// Creates the session of a run.
    pub(super) async fn begin(
        store: &SessionStore,
        owner: &Owner,
        request: &SolveRequest,
    ) -> Result<(Self, mpsc::Receiver<Progress>), StoreError> {
        let title = OneLine::new(&request.problem).with_max_chars(LINE);
        let method = request.method.to_string();
        let new = NewSession {
            id: request.session.clone(),
            kind: SessionKind::Solve,
            title: title.to_string(),
            strategy: method.clone(),
        };

        let id = store.create(owner, new).await?;
        let (progress, updates) = mpsc::channel(WAITING);
        let mut watch = Self {
            store: store.clone(),
            owner: owner.clone(),
            id,
            entries: 0,
            recorded: Recorded::default(),
            reported: 0,
            spent: Spent::default(),
            progress,
            problem: None,
        };

        let problem = request.problem.clone();
        let text = problem.clone();
        watch
            .append(&SolveEntry::Begun { problem, method }, text, false)
            .await?;
        Ok((watch, updates))
    }

    /// Records a step. If that fails, the step is part of the next one.
    pub(super) async fn step(&mut self, step: SolveStep) {
        self.report(&step);
        self.spent = step.spent;
        if step.is_empty() {
            return;
        }

        let after = self.recorded.and(&step);
        let text = words_of(&step);
        match self.append(&SolveEntry::Step(step), text, false).await {
            Ok(()) => {
                self.recorded = after;
                self.problem = None;
            }
            Err(error) => self.problem = Some(error),
        }
    }

    /// Records the end. Returns the reason for which some of the run couldn't be stored, if any.
    pub(super) async fn end(mut self, end: SolveEnd) -> Option<StoreError> {
        let text = end.answer.clone().unwrap_or_default();
        let ended = self.append(&SolveEntry::Ended(end), text, true).await;
        ended.err().or(self.problem)
    }

    /// Returns the number of thoughts so far.
    pub(super) fn thoughts(&self) -> usize {
        self.reported
    }

    /// Returns the cost so far.
    pub(super) fn spent(&self) -> Spent {
        self.spent
    }

    fn report(&mut self, step: &SolveStep) {
        let known = self.reported.saturating_sub(self.recorded.thoughts);
        for thought in step.thoughts.iter().skip(known) {
            self.reported = self.reported.saturating_add(1);
            let progress = Progress {
                thoughts: self.reported,
                line: line_of(thought),
            };
            // The client may be slow, or gone.
            let _ = self.progress.try_send(progress);
        }
    }

    async fn append(
        &mut self,
        entry: &SolveEntry,
        text: String,
        is_complete: bool,
    ) -> Result<(), StoreError> {
        let body = written(entry)?;
        let change = Change {
            is_complete: is_complete.then_some(true),
            text,
            ..Change::default()
        };

        let is_appended = self
            .store
            .append(&self.owner, &self.id, self.entries, body, change)
            .await?;
        if !is_appended {
            let message = format_args!("the session `{}` was changed by another program", self.id);
            return Err(StoreError::new(message));
        }

        self.entries = self.entries.saturating_add(1);
        Ok(())
    }
}

fn written(entry: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(entry)
        .map_err(|error| StoreError::new(format_args!("the entry cannot be written: {error}")))
}

/// Returns what a search finds.
fn words_of(step: &SolveStep) -> String {
    let texts = step.thoughts.iter().map(|thought| thought.text.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

fn line_of(thought: &SolveThought) -> String {
    let text = OneLine::new(&thought.text).with_max_chars(LINE);
    let stage = OneLine::new(&thought.stage).with_max_chars(LINE);
    format!("{stage}: {text}")
}
