//! Bounds on the structure of a reply.

use cogwork_text::yaml::{Refused, YamlGuard};

/// The bounds of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The levels of nesting: columns in block style and brackets in flow style.
    pub(crate) nesting: usize,
    /// The number of list dashes and mapping brackets. Every step has one or the other.
    pub(crate) steps: usize,
}

impl Default for Bounds {
    /// The nesting leaves room for the deepest plan, which takes two levels per step.
    fn default() -> Self {
        Self {
            nesting: 2 * cogwork_plan::MAX_DEPTH + 8,
            steps: 10_000,
        }
    }
}

impl Bounds {
    /// Returns the guard in front of the YAML library.
    pub(crate) fn guard(self) -> YamlGuard {
        YamlGuard::new(self.nesting).with_max_items(self.steps)
    }
}

/// Returns the message that explains to a model why its block was refused.
pub(crate) fn told(reason: Refused) -> String {
    match reason {
        Refused::Nesting(_) => {
            "the nesting is too deep; plans may have at most 32 levels of steps".to_owned()
        }
        Refused::Items(_) => {
            "the block has more steps than are read; expected a shorter plan".to_owned()
        }
        Refused::Documents => "the block has more than one YAML document; expected one".to_owned(),
        other => other.to_string(),
    }
}
