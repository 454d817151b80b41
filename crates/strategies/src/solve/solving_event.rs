use std::collections::BTreeMap;

use cogwork_flow::watch::{is_followed, is_watched, report_from, report_growth};
use cogwork_typed::{GrowingText, Growth};
use serde::Serialize;
use serde_json::Value;

use super::form::Form;
use super::{EndReason, Solving};
use crate::Strategy;
use crate::session::{Branch, BranchId, BranchStatus, Session, Thought, ThoughtId};

/// The source of these events, in the events of a run.
pub(super) const SOURCE: &str = "solving";

/// An event of a strategy, for programs that show it. The events are the
/// [reports](cogwork_flow::watch::EventKind::Reported) with the source `solving` in the events of the run.
///
/// An event is serialised as one object with a `type`:
///
/// ```json
/// {"type": "thinking", "question": "", "text": "First, I", "is_start": true}
/// {"type": "table", "strategy": "self_ask", "start": "ask", "stages": [{"name": "ask", "next": ["answer"], "is_final": false}, …]}
/// {"type": "branch", "id": 1, "name": "try it", "from": 2, "status": "open", "score": 7.5}
/// {"type": "stage", "thought": 3, "branch": "try it", "parents": [2], "stage": "explore", "text": "…", "parameters": {}}
/// {"type": "ended", "reason": "answered", "answer": "42"}
/// ```
///
/// Apart from `thinking`, the events are reported when the calls before them are complete.
///
/// Later versions may add types and fields; readers should ignore those that they don't know.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SolvingEvent {
    /// The text of a thought grows. The pieces since the last start are the text so far. Of several
    /// questions that are asked at the same time, each thought is reported as a whole.
    Thinking {
        /// The name of the [question](crate::Ask::with_name), which distinguishes it from others
        /// that are asked at the same time.
        question: String,
        /// The next piece of the text.
        text: String,
        /// Whether the text begins with this piece, which replaces all earlier ones of this
        /// question.
        is_start: bool,
    },
    /// The table of the strategy. Comes before the first thought.
    Table {
        /// The name of the strategy.
        strategy: String,
        /// The name of the first stage.
        start: String,
        /// The stages.
        stages: Vec<TableStage>,
    },
    /// A thought was added.
    Stage {
        /// The number of the thought in the session.
        thought: ThoughtId,
        /// The name of the branch.
        branch: String,
        /// The thoughts before it: one, or several after a merge.
        parents: Vec<ThoughtId>,
        /// The thought that this one replaces.
        #[serde(skip_serializing_if = "Option::is_none")]
        revises: Option<ThoughtId>,
        /// The name of the stage.
        stage: String,
        /// The text.
        text: String,
        /// The parameters, by name.
        parameters: BTreeMap<String, Value>,
        /// The names of the branches that the thought merged.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        merges: Vec<String>,
    },
    /// A branch was created, or its status or score changed.
    Branch {
        /// The number of the branch in the session.
        id: BranchId,
        /// The name.
        name: String,
        /// The thought that it was forked from.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<ThoughtId>,
        /// `open`, `complete`, `merged` or `pruned`.
        status: String,
        /// The thought that merged it.
        #[serde(skip_serializing_if = "Option::is_none")]
        into: Option<ThoughtId>,
        /// The score, from 0 to 10.
        #[serde(skip_serializing_if = "Option::is_none")]
        score: Option<f64>,
    },
    /// The run ended. This is the last event.
    Ended {
        /// Why it ended.
        #[serde(flatten)]
        reason: EndReason,
        /// The best answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
}

/// A stage in the [table](SolvingEvent::Table) of a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TableStage {
    /// The name.
    pub name: String,
    /// The names of the stages that may follow.
    pub next: Vec<String>,
    /// Whether the strategy ends in this stage.
    pub is_final: bool,
}

/// Reports the thought in the replies to a question while it grows, if the run is watched.
pub(super) struct Thinking<'a> {
    question: &'a str,
    growing: Option<GrowingText<Value>>,
}

impl<'a> Thinking<'a> {
    pub(super) fn new(question: &'a str, form: &Form) -> Self {
        Self {
            question,
            // Reading a growing text costs something, which a run without a reader needn't pay.
            growing: is_followed().then(|| form.growing_thought()),
        }
    }

    /// Begins with the next reply.
    pub(super) fn begin(&mut self) {
        if let Some(growing) = &mut self.growing {
            growing.reset();
        }
    }

    pub(super) fn push(&mut self, piece: &str) {
        let growing = self.growing.as_mut();
        if let Some(growth) = growing.and_then(|growing| growing.push(piece)) {
            report_growth(SOURCE, || event(self.question, growth));
        }
    }

    /// Reports what is missing of the thought that was read.
    pub(super) fn finish(&mut self, read: &str) {
        let growing = self.growing.as_mut();
        if let Some(growth) = growing.and_then(|growing| growing.finish(read)) {
            report_growth(SOURCE, || event(self.question, growth));
        }
    }
}

fn event(question: &str, growth: Growth<'_>) -> SolvingEvent {
    SolvingEvent::Thinking {
        question: question.to_owned(),
        text: growth.added().to_owned(),
        is_start: growth.is_start(),
    }
}

/// Reports what is different from the session `before`, if the run is watched.
pub(super) fn report_changes(before: &Session, solving: &Solving) {
    // The comparison walks all branches, and nobody would see its result.
    if !is_watched() {
        return;
    }

    let session = solving.session();
    // A page draws the table before the first thought is put into it.
    if before.thoughts().is_empty() && !session.thoughts().is_empty() {
        report_from(SOURCE, || SolvingEvent::table(session.strategy()));
    }

    // A branch is reported before its thoughts, and once more if a thought merged it.
    for branch in session.branches().iter().skip(before.branches().len()) {
        report_from(SOURCE, || SolvingEvent::branch(branch));
    }

    for thought in session.thoughts().iter().skip(before.thoughts().len()) {
        report_from(SOURCE, || SolvingEvent::stage(session, thought));
    }

    let known = session.branches().iter().zip(before.branches());
    for (branch, before) in known {
        let is_same = branch.status == before.status && branch.score == before.score;
        if !is_same {
            report_from(SOURCE, || SolvingEvent::branch(branch));
        }
    }
}

impl SolvingEvent {
    fn table(strategy: &Strategy) -> Self {
        let stages = strategy.stages().iter().map(|stage| TableStage {
            name: stage.name.clone(),
            next: stage.next.clone(),
            is_final: stage.is_final,
        });
        Self::Table {
            strategy: strategy.name().to_owned(),
            start: strategy.start().name.clone(),
            stages: stages.collect(),
        }
    }

    fn branch(branch: &Branch) -> Self {
        let (status, into) = match branch.status {
            BranchStatus::Merged(thought) => ("merged".to_owned(), Some(thought)),
            status => (status.to_string(), None),
        };
        Self::Branch {
            id: branch.id,
            name: branch.name.clone(),
            from: branch.from,
            status,
            into,
            score: branch.score,
        }
    }

    fn stage(session: &Session, thought: &Thought) -> Self {
        let merged = thought.merged.iter().flat_map(|merged| &merged.sources);
        Self::Stage {
            thought: thought.id,
            branch: name_of(session, thought.branch),
            parents: thought.parents().collect(),
            revises: thought.revises,
            stage: thought.stage.clone(),
            text: thought.text.clone(),
            parameters: thought.parameters.clone(),
            merges: merged.map(|source| name_of(session, *source)).collect(),
        }
    }
}

fn name_of(session: &Session, branch: BranchId) -> String {
    let branch = session.branch(branch);
    branch.map_or_else(|_| String::new(), |branch| branch.name.clone())
}
