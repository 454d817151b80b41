use cogwork_flow::watch::{is_watched, report_from, report_growth};
use cogwork_typed::Growth;
use serde::Serialize;

use super::{EndReason, Solving};
use crate::Strategy;
use crate::session::{Branch, Session, Thought};

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
/// {"type": "branch", "id": 1, "name": "try it", "from": 2, "thoughts": [], "score": 7.5, "status": "open"}
/// {"type": "stage", "id": 3, "branch": 1, "parent": 2, "stage": "explore", "text": "…"}
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
    Stage(Thought),
    /// A branch was created, or its status or score changed.
    Branch(Branch),
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

/// Reports how the thought in a reply to a question grew, if it did.
pub(super) fn report_thinking(question: &str, growth: Option<Growth<'_>>) {
    let Some(growth) = growth else {
        return;
    };

    report_growth(SOURCE, || SolvingEvent::Thinking {
        question: question.to_owned(),
        text: growth.added.to_owned(),
        is_start: growth.is_start,
    });
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
        report_from(SOURCE, || SolvingEvent::Branch(branch.clone()));
    }

    for thought in session.thoughts().iter().skip(before.thoughts().len()) {
        report_from(SOURCE, || SolvingEvent::Stage(thought.clone()));
    }

    let known = session.branches().iter().zip(before.branches());
    for (branch, before) in known {
        let is_same = branch.status == before.status && branch.score == before.score;
        if !is_same {
            report_from(SOURCE, || SolvingEvent::Branch(branch.clone()));
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
}
