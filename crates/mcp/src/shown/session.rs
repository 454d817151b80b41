//! What drawings and texts show of a session.

use serde::{Deserialize, Serialize};

use super::markdown;
use crate::store::SessionHeader;

/// A session as people see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    pub(crate) title: String,
    /// Lines such as the strategy and the state.
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) problem: Option<String>,
    /// The number of older thoughts, which aren't shown.
    pub(crate) older: u64,
    pub(crate) thoughts: Vec<Step>,
    pub(crate) answer: Option<String>,
}

/// A thought of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// Unique in the session.
    pub(crate) number: u64,
    /// The thoughts that it follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parents: Vec<u64>,
    /// The branch, unless it is the first one of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// The stage of a strategy, the node of a flow, or another short label.
    pub(crate) stage: String,
    /// The strategy of the stage, if sessions may follow several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) strategy: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revises: Option<u64>,
    pub(crate) text: String,
    /// Names and values, such as parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<(String, String)>,
}

impl Step {
    /// Returns a thought that follows the one before it.
    pub(crate) fn after_last(
        number: u64,
        stage: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let parent = Some(number.saturating_sub(1)).filter(|parent| *parent > 0);
        Self {
            number,
            parents: parent.into_iter().collect(),
            stage: stage.into(),
            text: text.into(),
            ..Self::default()
        }
    }
}

impl Shown {
    /// Returns a session without its thoughts.
    pub(crate) fn of(session: &SessionHeader) -> Self {
        let mut facts = vec![
            ("Session", session.id.to_string()),
            ("Tool", session.kind.as_str().to_owned()),
            ("State", session.status().to_owned()),
        ];
        if !session.strategy.is_empty() {
            facts.push(("Strategy", session.strategy.clone()));
        }

        Self {
            title: session.title.clone(),
            facts,
            ..Self::default()
        }
    }

    /// Adds as many of the newest thoughts as fit into this many bytes, but at least one.
    pub(crate) fn with_newest(mut self, mut steps: Vec<Step>, bytes: usize) -> Self {
        let older = older(&steps, bytes);
        self.thoughts = steps.split_off(older);
        self.older = u64::try_from(older).unwrap_or(u64::MAX);
        self
    }
}

/// Returns how many thoughts to skip so that the others have at most this many bytes, unless the
/// last one is longer.
pub(crate) fn older(steps: &[Step], bytes: usize) -> usize {
    let lengths = steps.iter().rev().map(|one| markdown::thought(one).len());
    let totals = lengths.scan(0_usize, |total, length| {
        *total = total.saturating_add(length);
        Some(*total)
    });
    let fitting = totals.take_while(|total| *total <= bytes).count();
    steps.len().saturating_sub(fitting.max(1))
}
