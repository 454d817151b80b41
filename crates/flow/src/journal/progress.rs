use crate::Action;

/// How far a run is, for those who list runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// It goes on to a node.
    At {
        /// The node to be visited next.
        node: &'a str,
        /// Steps so far.
        steps: u64,
    },
    /// It is at its end.
    Ended {
        /// The label it ended on.
        action: &'a Action,
        /// Steps in all.
        steps: u64,
    },
    /// It stopped, and may be taken up again.
    Failed {
        /// The error, in one line.
        error: &'a str,
    },
}
