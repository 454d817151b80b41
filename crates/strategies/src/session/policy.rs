use serde::{Deserialize, Serialize};

/// What a session allows. By default, early ends and thoughts beyond a limit are refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SessionPolicy {
    /// Whether a branch may end before it reaches a final stage.
    pub early_end: EndRule,
    /// The limits on the size of the session.
    pub limits: SessionLimits,
}

/// Whether a branch may end before it reaches a final stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndRule {
    /// Refuses a thought that ends its branch in a stage that isn't final.
    #[default]
    Refuse,
    /// Lets the thought end its branch. The branch is marked as ended early.
    Allow,
}

/// Limits on the size of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionLimits {
    pub(super) thoughts: usize,
    pub(super) branches: usize,
}

impl SessionLimits {
    /// Sets the maximum number of thoughts on all branches. The default is 100,000.
    pub fn with_thoughts(self, thoughts: usize) -> Self {
        Self { thoughts, ..self }
    }

    /// Sets the maximum number of branches, including `main` and closed branches. The default is
    /// 1,000.
    pub fn with_branches(self, branches: usize) -> Self {
        Self { branches, ..self }
    }
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            thoughts: 100_000,
            branches: 1_000,
        }
    }
}
