//! The rules that a session follows.

use cogwork_strategies::{Strategies, Strategy};
use serde::{Deserialize, Serialize};

/// The table of one strategy, as it was when the session began to follow it. A session keeps its
/// rules, even if the server doesn't have the strategy any more, or has other rules of its name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Rules(Strategies);

impl Rules {
    pub(crate) fn of(strategy: &Strategy) -> Self {
        Self(Strategies::from_iter([strategy.clone()]))
    }

    /// Returns the strategy, or `None` if the table is empty.
    pub(crate) fn strategy(&self) -> Option<&Strategy> {
        self.0.iter().next()
    }
}
