use super::SessionKind;

/// Selects sessions of one owner.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Only sessions of these kinds; all if empty.
    pub(crate) kinds: Vec<SessionKind>,
    pub(crate) strategy: Option<String>,
    pub(crate) is_complete: Option<bool>,
    /// Only sessions whose title or text contains all of these words.
    pub(crate) words: Vec<String>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
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
