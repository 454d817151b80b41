use super::{SessionId, SessionKind};

/// Selects sessions of one owner.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Only sessions of these kinds; all if empty.
    pub(crate) kinds: Vec<SessionKind>,
    pub(crate) strategy: Option<String>,
    pub(crate) is_complete: Option<bool>,
    /// Only sessions whose title or text contains all of these words.
    pub(crate) words: Vec<String>,
    /// Only sessions whose id starts with this.
    pub(crate) id_prefix: Option<String>,
    /// Only sessions that were created before this one.
    pub(crate) before: Option<Before>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

/// A session in the order of creation. It may have been removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Before {
    /// In milliseconds since 1970.
    pub(crate) created: i64,
    pub(crate) id: SessionId,
}

/// The order of a list of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// The last used first.
    #[default]
    Updated,
    /// The last created first.
    Created,
    /// The one with the most entries first.
    Entries,
    /// The one with the longest time between its first and its last entry first.
    Duration,
}
