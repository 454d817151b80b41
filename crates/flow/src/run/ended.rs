use crate::{Action, Paused};

/// The result of one step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stepped<'f> {
    /// The run moved to a different node, or to the same one again.
    Moved {
        /// The node that was visited.
        from: &'f str,
        /// The action that it returned.
        action: Action,
        /// The node to visit next.
        to: &'f str,
    },
    /// The run has ended.
    Ended(Ended),
}

/// How far [`Run::proceed`](crate::Run::proceed) got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proceeded {
    /// The run has ended.
    Ended(Ended),
    /// The run waits for an event.
    Paused(Paused),
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The action on which the flow ended.
    pub action: Action,
    /// The number of visits to nodes, including repeated ones.
    pub steps: u64,
}
