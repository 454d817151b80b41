//! What a run has done so far.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The progress of a run, which is updated after each step. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<Mutex<Done>>);

/// What was done.
#[derive(Debug, Clone, Default)]
pub(super) struct Done {
    /// The node of the next step.
    pub(super) node: Option<String>,
    pub(super) thoughts: Vec<Thought>,
    pub(super) repairs: Vec<String>,
    /// The number of calls whose repairs are listed.
    pub(super) calls: usize,
    pub(super) tokens: u64,
    pub(super) best: Option<Answer>,
    pub(super) end: Option<End>,
}

#[derive(Debug, Clone)]
pub(super) struct Thought {
    pub(super) stage: String,
    pub(super) text: String,
}

#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) text: String,
    /// The answer in a few words, if the method provides it.
    pub(super) conclusion: Option<String>,
    pub(super) confidence: Option<f64>,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) kind: EndKind,
    /// The reason in words.
    pub(super) reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndKind {
    Answered,
    /// The answer is the best one so far.
    Stopped,
    Failed,
}

impl End {
    pub(super) fn without_result() -> Self {
        Self {
            kind: EndKind::Failed,
            reason: "the run ended without a result".to_owned(),
        }
    }
}

impl Progress {
    /// A panic can't leave the progress half changed, so a poisoned lock can still be used.
    pub(super) fn locked(&self) -> MutexGuard<'_, Done> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns how many thoughts to skip so that the others have at most this many bytes, unless the
/// last one is longer.
pub(super) fn newest(thoughts: &[Thought], bytes: usize) -> usize {
    let lengths = thoughts.iter().rev().map(|thought| {
        let stage = thought.stage.len();
        stage.saturating_add(thought.text.len())
    });
    let totals = lengths.scan(0_usize, |total, length| {
        *total = total.saturating_add(length);
        Some(*total)
    });

    let fitting = totals.take_while(|total| *total <= bytes).count();
    thoughts.len().saturating_sub(fitting.max(1))
}
