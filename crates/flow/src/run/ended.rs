use crate::{Action, Paused};

/// What one step of a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stepped<'f> {
    /// The run went on to another node, or to the same one again.
    Moved {
        /// The node that was visited.
        from: &'f str,
        /// The label it answered.
        action: Action,
        /// The node to be visited next.
        to: &'f str,
    },
    /// The run waits for an event; see [`Wait`](crate::Wait).
    Paused(Paused),
    /// The run is at its end.
    Ended(Ended),
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The label on which the flow ended.
    pub action: Action,
    /// How many nodes were visited, repeated visits counted.
    pub steps: u64,
}
