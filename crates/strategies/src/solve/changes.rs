//! Reports what a step changed in a session.

use cogwork_flow::{is_watched, report_from};

use super::Solving;
use super::solving_event::{SOURCE, SolvingEvent, TableStage};
use crate::{Branch, BranchStatus, Strategy, Thought};

/// A session before a step, if the run is watched.
pub(super) struct Before {
    thoughts: usize,
    branches: Vec<Branch>,
    has_ended: bool,
}

impl Before {
    /// Returns `None` if the run isn't watched.
    pub(super) fn of(solving: &Solving) -> Option<Self> {
        if !is_watched() {
            return None;
        }

        let session = solving.session();
        Some(Self {
            thoughts: session.thoughts().len(),
            branches: session.branches().to_vec(),
            has_ended: solving.end().is_some(),
        })
    }

    /// Reports what is different after the step.
    pub(super) fn report_changes(self, solving: &Solving, strategy: &Strategy) {
        let session = solving.session();
        let is_first = self.thoughts == 0 && !session.thoughts().is_empty();
        if is_first {
            report_from(SOURCE, || table(strategy));
        }

        // A branch is reported before its thoughts, and once more if a thought merged it.
        for branch in session.branches().iter().skip(self.branches.len()) {
            report_from(SOURCE, || branch_event(branch));
        }

        for thought in session.thoughts().iter().skip(self.thoughts) {
            report_from(SOURCE, || stage_event(solving, thought));
            if thought.merged().is_some() {
                report_from(SOURCE, || merged_event(solving, thought));
            }
        }

        let known = session.branches().iter().zip(&self.branches);
        for (branch, before) in known {
            let is_same = branch.status() == before.status() && branch.score() == before.score();
            if !is_same {
                report_from(SOURCE, || branch_event(branch));
            }
        }

        if !self.has_ended {
            report_end(solving);
        }
    }
}

fn report_end(solving: &Solving) {
    let Some(reason) = solving.end() else {
        return;
    };

    report_from(SOURCE, || SolvingEvent::Ended {
        reason: reason.clone(),
        answer: solving.best().map(|answer| answer.text.clone()),
    });
}

fn table(strategy: &Strategy) -> SolvingEvent {
    let stages = strategy.stages().iter().map(|stage| TableStage {
        name: stage.name().to_owned(),
        next: stage.next_names().to_vec(),
        is_final: stage.is_final(),
    });

    SolvingEvent::Table {
        strategy: strategy.name().to_owned(),
        start: strategy.start().name().to_owned(),
        stages: stages.collect(),
    }
}

fn branch_event(branch: &Branch) -> SolvingEvent {
    let status = match branch.status() {
        BranchStatus::Open => "open",
        BranchStatus::Complete => "complete",
        BranchStatus::Merged(_) => "merged",
        BranchStatus::Pruned => "pruned",
    };
    let into = match branch.status() {
        BranchStatus::Merged(thought) => Some(thought),
        _ => None,
    };

    SolvingEvent::Branch {
        id: branch.id(),
        name: branch.name().to_owned(),
        from: branch.forked_from(),
        status: status.to_owned(),
        into,
        score: branch.score(),
    }
}

fn stage_event(solving: &Solving, thought: &Thought) -> SolvingEvent {
    let parameters = thought.parameters();

    SolvingEvent::Stage {
        thought: thought.id(),
        branch: branch_name(solving, thought),
        parents: thought.parents().collect(),
        revises: thought.revises(),
        stage: thought.stage().to_owned(),
        text: thought.text().to_owned(),
        parameters: parameters
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect(),
    }
}

fn merged_event(solving: &Solving, thought: &Thought) -> SolvingEvent {
    let merged = thought.merged();
    let sources = merged.into_iter().flat_map(|merged| &merged.sources);
    let branches = sources.filter_map(|source| solving.session().branch(*source).ok());

    SolvingEvent::Merged {
        thought: thought.id(),
        into: branch_name(solving, thought),
        branches: branches.map(|branch| branch.name().to_owned()).collect(),
        parents: merged.map_or_else(Vec::new, |merged| merged.parents.clone()),
    }
}

fn branch_name(solving: &Solving, thought: &Thought) -> String {
    let branch = solving.session().branch(thought.branch());
    branch.map_or_else(|_| String::new(), |branch| branch.name().to_owned())
}
