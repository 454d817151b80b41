use serde::{Deserialize, Serialize};

/// What a session allows. The default refuses early ends and whatever passes a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SessionPolicy {
    /// Whether a branch may end before a final stage.
    pub early_end: EndRule,
    /// What to do when there is no room for a thought.
    pub when_full: WhenFull,
    /// How much a session may hold.
    pub limits: SessionLimits,
}

/// Whether a branch may end before a final stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndRule {
    /// A thought that says no other follows is refused unless its stage is final.
    #[default]
    Refuse,
    /// It ends its branch, and the [`Completion`](super::Completion) says that it was early.
    Allow,
}

/// What to do when the bytes of a thought have no room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// The thought is refused.
    #[default]
    Refuse,
    /// Texts and parameters of pruned branches are forgotten, all at once, except where another branch
    /// stands on them. Number, stage and place of a forgotten thought stay. If that is not enough, the
    /// thought is refused and nothing is forgotten.
    ForgetPruned,
}

/// How much a session may hold. What is set above the greatest limit is the greatest limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct SessionLimits {
    pub(super) thoughts: usize,
    pub(super) branches: usize,
    pub(super) bytes: usize,
}

impl SessionLimits {
    /// The greatest limits there can be: 250,000 thoughts, 2,000 branches, 256 MiB.
    ///
    /// To merge every branch costs thoughts times branches at worst; with these that is still a matter of
    /// seconds.
    pub const MAX: Self = Self {
        thoughts: 250_000,
        branches: 2_000,
        bytes: 256 * 1024 * 1024,
    };

    /// Thoughts of all branches together, forgotten ones too. Default: 100,000.
    pub fn with_thoughts(self, thoughts: usize) -> Self {
        Self {
            thoughts: thoughts.min(Self::MAX.thoughts),
            ..self
        }
    }

    /// Branches that were ever made, `main` and closed ones too, since each stays on record. Default:
    /// 1,000.
    pub fn with_branches(self, branches: usize) -> Self {
        Self {
            branches: branches.min(Self::MAX.branches),
            ..self
        }
    }

    /// Bytes of memory that the thoughts take, about: texts, parameters, and a fixed share for each
    /// thought. Default: 64 MiB.
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
            "limits above the greatest; expected at most {thoughts} thoughts, {branches} branches and {bytes} bytes"
        ))
    }
}
