use serde::{Deserialize, Serialize};

/// What a session allows. By default, early ends are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SessionPolicy {
    /// Whether a branch may end before it reaches a final stage.
    pub allows_early_end: bool,
    /// The maximum number of thoughts on all branches. The default is 100,000.
    pub max_thoughts: usize,
    /// The maximum number of branches, including `main` and closed branches. The default is 1,000.
    pub max_branches: usize,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            allows_early_end: false,
            max_thoughts: 100_000,
            max_branches: 1_000,
        }
    }
}
