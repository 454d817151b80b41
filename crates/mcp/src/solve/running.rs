//! A run in a separate task, which is recorded while it goes on.

use std::sync::Arc;

use cogwork_flow::CancellationToken;
use cogwork_strategies::Spent;
use cogwork_text::OneLine;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::JoinHandle;

use super::backend::Backend;
use super::drive::solve;
use super::entry::{SolveEnd, SolveEntry, SolveStep};
use super::request::SolveRequest;
use crate::shown::Step;
use crate::store::{
    Addition, HeaderChange, NewSession, Owner, Position, SessionId, SessionKind, SessionStore,
    StoreError,
};

/// A run that was started. Dropping it cancels the run, which still records its end.
pub(super) struct Running {
    pub(super) id: SessionId,
    /// The thoughts as they are added. It ends with the run.
    pub(super) progress: mpsc::Receiver<Progress>,
    token: CancellationToken,
    task: JoinHandle<Finished>,
}

/// The result of a run.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) id: SessionId,
    pub(super) method: &'static str,
    pub(super) end: SolveEnd,
    pub(super) thoughts: usize,
    pub(super) spent: Spent,
    /// Why some of the run isn't in the session.
    pub(super) unrecorded: Option<StoreError>,
}

impl Running {
    /// Creates the session of a run, and starts the run.
    pub(super) async fn start(
        store: &SessionStore,
        owner: &Owner,
        backend: &Arc<Backend>,
        request: SolveRequest,
        permit: OwnedSemaphorePermit,
    ) -> Result<Self, StoreError> {
        let (watch, progress) = Watch::begin(store, owner, &request).await?;
        let token = CancellationToken::new();
        let id = watch.id.clone();

        let run = run(Arc::clone(backend), request, watch, token.clone());
        let task = tokio::spawn(async move {
            let finished = run.await;
            drop(permit);
            finished
        });
        Ok(Self {
            id,
            progress,
            token,
            task,
        })
    }

    pub(super) fn cancel(&self) {
        self.token.cancel();
    }

    /// Returns the result once the run has ended.
    pub(super) async fn finished(mut self) -> Finished {
        match (&mut self.task).await {
            Ok(finished) => finished,
            Err(_) => Finished::broken(self.id.clone()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

impl Finished {
    /// The result of a run whose task panicked or was aborted with its runtime.
    fn broken(id: SessionId) -> Self {
        Self {
            id,
            method: "",
            end: SolveEnd::failed("the run was aborted"),
            thoughts: 0,
            spent: Spent::default(),
            unrecorded: None,
        }
    }
}

async fn run(
    backend: Arc<Backend>,
    request: SolveRequest,
    mut watch: Watch,
    token: CancellationToken,
) -> Finished {
    let end = solve(&backend, &request, &mut watch, &token).await;

    Finished {
        id: watch.id.clone(),
        method: request.method.as_str(),
        thoughts: watch.reported,
        spent: watch.spent,
        unrecorded: watch.end(end.clone()).await,
        end,
    }
}

/// How much of a run was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) thoughts: usize,
    pub(super) calls: usize,
}

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
    end: Option<Position>,
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

        let (progress, updates) = mpsc::channel(WAITING);
        let mut watch = Self {
            store: store.clone(),
            owner: owner.clone(),
            id: new.id.clone().unwrap_or_else(SessionId::random),
            end: None,
            recorded: Recorded::default(),
            reported: 0,
            spent: Spent::default(),
            progress,
            problem: None,
        };

        let problem = request.problem.clone();
        let text = problem.clone();
        let entry = SolveEntry::Begun { problem, method };
        watch.append(Some(&new), &entry, text, false).await?;
        Ok((watch, updates))
    }

    /// Records a step. If that fails, the step is part of the next one.
    pub(super) async fn step(&mut self, step: SolveStep) {
        self.report(&step);
        self.spent = step.spent;
        if step.thoughts.is_empty() && step.calls.is_empty() {
            return;
        }

        let Recorded { thoughts, calls } = self.recorded;
        let after = Recorded {
            thoughts: thoughts.saturating_add(step.thoughts.len()),
            calls: calls.saturating_add(step.calls.len()),
        };
        let text = words_of(&step);
        match self
            .append(None, &SolveEntry::Step(step), text, false)
            .await
        {
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
        let ended = self.append(None, &SolveEntry::Ended(end), text, true).await;
        ended.err().or(self.problem)
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
        new: Option<&NewSession>,
        entry: &SolveEntry,
        text: String,
        is_complete: bool,
    ) -> Result<(), StoreError> {
        let addition = Addition {
            body: serde_json::to_string(entry).map_err(StoreError::new)?,
            change: HeaderChange {
                is_complete: is_complete.then_some(true),
                text,
                ..HeaderChange::default()
            },
            keep: None,
        };

        let store = &self.store;
        let end = store.append(&self.owner, &self.id, self.end, new, addition);
        self.end = Some(end.await?.ok_or_else(|| {
            let what = match new {
                Some(_) => "already exists",
                None => "was changed by another program",
            };
            StoreError::new(format_args!("the session `{}` {what}", self.id))
        })?);
        Ok(())
    }
}

/// Returns what a search finds.
fn words_of(step: &SolveStep) -> String {
    let texts = step.thoughts.iter().map(|thought| thought.text.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

fn line_of(thought: &Step) -> String {
    let text = OneLine::new(&thought.text).with_max_chars(LINE);
    let stage = OneLine::new(&thought.stage).with_max_chars(LINE);
    format!("{stage}: {text}")
}
