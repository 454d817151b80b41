//! The session of a run, which is recorded while it goes on.

use cogwork_text::OneLine;
use cogwork_typed::ask::Spent;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::markdown::{Shown, Step};
use crate::run::Status;
use crate::store::{
    Changed, NewSession, Owner, Recorded, SessionId, SessionKind, SessionStore, Stored,
};

/// The maximum number of characters of a title, and of a thought in a progress notification.
const LINE: usize = 200;

/// An entry in the session of a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
enum SolveEntry {
    /// The first entry.
    Begun { problem: String, method: String },
    /// What a step of the run added.
    Step(SolveStep),
    /// The last entry. It is missing if the server ended before the run.
    Ended(SolveEnd),
}

/// The thoughts and the calls of a step.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SolveStep {
    pub(super) thoughts: Vec<Step>,
    /// The calls to the model and to tools with their raw replies, in the form of the method.
    pub(super) calls: Vec<Value>,
    /// The total cost up to and including this step.
    pub(super) spent: Spent,
}

/// How a run ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SolveEnd {
    pub(super) outcome: Status,
    /// The best answer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<String>,
    /// From 0 to 1, if the method provides one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) confidence: Option<f64>,
    /// Why it ended, on one line.
    pub(super) reason: String,
}

impl SolveEnd {
    pub(super) fn new(outcome: Status, reason: impl ToString) -> Self {
        Self {
            outcome,
            answer: None,
            confidence: None,
            reason: reason.to_string(),
        }
    }

    pub(super) fn failed(reason: impl ToString) -> Self {
        Self::new(Status::Failed, reason)
    }
}

/// The session of a run has no state but its entries.
#[derive(Default)]
struct SolveSession {
    has_begun: bool,
}

impl Recorded for SolveSession {
    const KIND: SessionKind = SessionKind::Solve;

    type Entry = SolveEntry;

    fn replay(&mut self, _: SolveEntry) -> Result<(), Failure> {
        self.has_begun = true;
        Ok(())
    }
}

/// Writes a run to its session, and reports its thoughts.
pub(super) struct Watch {
    store: SessionStore,
    owner: Owner,
    pub(super) id: SessionId,
    /// How many thoughts and calls were recorded.
    pub(super) recorded: (usize, usize),
    /// The number of thoughts that were reported.
    pub(super) thoughts: usize,
    pub(super) spent: Spent,
    progress: mpsc::UnboundedSender<(usize, String)>,
}

impl Watch {
    /// Creates the session of a run. Each thought is reported with its number, on one line.
    pub(super) async fn begin(
        store: &SessionStore,
        owner: &Owner,
        id: Option<SessionId>,
        problem: &str,
        method: &str,
        progress: mpsc::UnboundedSender<(usize, String)>,
    ) -> Result<Self, Failure> {
        let title = OneLine::new(problem).with_max_chars(LINE);
        let new = NewSession {
            is_named: id.is_some(),
            title: title.to_string(),
            strategy: method.to_owned(),
        };
        let watch = Self {
            store: store.clone(),
            owner: owner.clone(),
            id: id.unwrap_or_else(SessionId::random),
            recorded: (0, 0),
            thoughts: 0,
            spent: Spent::default(),
            progress,
        };

        let entry = SolveEntry::Begun {
            problem: problem.to_owned(),
            method: method.to_owned(),
        };
        watch.append(Some(new), entry, false).await?;
        Ok(watch)
    }

    /// Records a step. If that fails, the step is part of the next one.
    pub(super) async fn step(&mut self, step: SolveStep) {
        // Before it is stored, so that a full disk doesn't silence the run.
        self.report(&step);
        self.spent = step.spent;
        if step.thoughts.is_empty() && step.calls.is_empty() {
            return;
        }

        let (thoughts, calls) = self.recorded;
        let after = (
            thoughts.saturating_add(step.thoughts.len()),
            calls.saturating_add(step.calls.len()),
        );
        let appended = self.append(None, SolveEntry::Step(step), false).await;
        match appended {
            Ok(()) => self.recorded = after,
            Err(error) => tracing::warn!(%error, "a step of a run could not be recorded"),
        }
    }

    /// Records the end. Returns why some of the run isn't in the session, if that is so.
    pub(super) async fn end(&self, end: SolveEnd) -> Option<Failure> {
        let appended = self.append(None, SolveEntry::Ended(end), true).await;
        let (recorded, _) = self.recorded;
        // Steps that could not be stored with a later one.
        let missing = self.thoughts.saturating_sub(recorded);
        let missing = (missing > 0).then(|| Failure::new(format_args!("{missing} thoughts")));
        appended.err().or(missing)
    }

    fn report(&mut self, step: &SolveStep) {
        let (recorded, _) = self.recorded;
        let known = self.thoughts.saturating_sub(recorded);
        for thought in step.thoughts.iter().skip(known) {
            self.thoughts = self.thoughts.saturating_add(1);
            let text = OneLine::new(&thought.text).with_max_chars(LINE);
            let stage = OneLine::new(&thought.stage).with_max_chars(LINE);
            // The client may be gone.
            let _ = self
                .progress
                .send((self.thoughts, format!("{stage}: {text}")));
        }
    }

    async fn append(
        &self,
        new: Option<NewSession>,
        entry: SolveEntry,
        is_complete: bool,
    ) -> Result<(), Failure> {
        let is_new = new.is_some();
        let id = self.id.clone();
        let change = move |session: &mut SolveSession| match session.has_begun && is_new {
            true => Err(Failure::new(format_args!(
                "the session `{id}` already exists; expected another `sessionId`"
            ))),
            false => Ok(Changed::new(entry, (), is_complete)),
        };
        self.store.change(&self.owner, &self.id, new, change).await
    }
}

/// Returns what a resource shows of a run.
pub(crate) fn shown(stored: &Stored) -> Result<Shown, Failure> {
    let mut shown = Shown::of(&stored.header);
    let mut steps = Vec::new();

    for entry in stored.entries()? {
        match entry {
            SolveEntry::Begun { problem, .. } => shown.problem = Some(problem),
            SolveEntry::Step(step) => steps.extend(step.thoughts),
            SolveEntry::Ended(end) => {
                let outcome = end.outcome.as_str().to_owned();
                shown.facts.push(("Outcome", outcome));
                shown.facts.push(("Reason", end.reason));
                shown.answer = end.answer;
            }
        }
    }
    Ok(shown.with_steps(steps, 0))
}
