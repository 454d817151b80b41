/// The result of appending an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appended {
    /// The entry is stored.
    Done,
    /// Another process has appended entries in the meantime. Nothing was stored.
    Behind,
}
