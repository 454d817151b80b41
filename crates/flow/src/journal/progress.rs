use crate::Action;

/// The progress of a run, for listings of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The run moves to a node.
    At {
        /// The next node.
        node: &'a str,
        /// The number of steps so far.
        steps: u64,
    },
    /// The run ended.
    Ended {
        /// The action on which it ended.
        action: &'a Action,
        /// The total number of steps.
        steps: u64,
    },
    /// The run stopped. It can be resumed.
    Failed {
        /// The error, in one line.
        error: &'a str,
    },
}
