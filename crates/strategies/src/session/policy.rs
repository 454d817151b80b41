use serde::{Deserialize, Serialize};

/// What a session allows. By default, early ends and thoughts beyond a limit are refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SessionPolicy {
    /// Whether a branch may end before it reaches a final stage.
    pub early_end: EndRule,
    /// What happens when a thought exceeds the limit on bytes.
    pub when_full: WhenFull,
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
    /// Lets the thought end its branch. The [`Completion`](super::Completion) is marked as early.
    Allow,
}

/// What happens when a thought exceeds the limit on bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// Refuses the thought.
    #[default]
    Refuse,
    /// Drops the texts and parameters of all pruned branches to make room.
    ///
    /// Thoughts that a branch in use builds on are kept. For forgotten thoughts, the number and the
    /// stage are kept. If that doesn't free enough bytes, the thought is refused and nothing is
    /// dropped.
    ForgetPruned,
}

/// Limits on the size of a session. Each limit is capped at its value in [`MAX`](Self::MAX).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct SessionLimits {
    pub(super) thoughts: usize,
    pub(super) branches: usize,
    pub(super) bytes: usize,
}

impl SessionLimits {
    /// The maximum limits: 250,000 thoughts, 2,000 branches and 256 MiB.
    ///
    /// Merging all branches takes time proportional to thoughts times branches in the worst case.
    /// Within these limits, that is a few seconds.
    pub const MAX: Self = Self {
        thoughts: 250_000,
        branches: 2_000,
        bytes: 256 * 1024 * 1024,
    };

    /// Sets the maximum number of thoughts on all branches, including forgotten ones. The default
    /// is 100,000.
    pub fn with_thoughts(self, thoughts: usize) -> Self {
        Self {
            thoughts: thoughts.min(Self::MAX.thoughts),
            ..self
        }
    }

    /// Sets the maximum number of branches, including `main` and closed branches. The default is
    /// 1,000.
    pub fn with_branches(self, branches: usize) -> Self {
        Self {
            branches: branches.min(Self::MAX.branches),
            ..self
        }
    }

    /// Sets the maximum number of bytes that the thoughts take in memory, approximately: their
    /// texts and parameters, and a fixed amount for each thought. The default is 64 MiB.
    pub fn with_bytes(self, bytes: usize) -> Self {
        Self {
            bytes: bytes.min(Self::MAX.bytes),
            ..self
        }
    }
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            thoughts: 100_000,
            branches: 1_000,
            bytes: 64 * 1024 * 1024,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    thoughts: usize,
    branches: usize,
    bytes: usize,
}

impl TryFrom<Unchecked> for SessionLimits {
    type Error = String;

    fn try_from(
        Unchecked {
            thoughts,
            branches,
            bytes,
        }: Unchecked,
    ) -> Result<Self, String> {
        let limits = Self {
            thoughts,
            branches,
            bytes,
        };

        let clamped = Self::default()
            .with_thoughts(thoughts)
            .with_branches(branches)
            .with_bytes(bytes);
        if limits == clamped {
            return Ok(limits);
        }

        let Self {
            thoughts,
            branches,
            bytes,
        } = Self::MAX;

        Err(format!(
            "the limits are too high; expected at most {thoughts} thoughts, {branches} branches and {bytes} bytes"
        ))
    }
}
