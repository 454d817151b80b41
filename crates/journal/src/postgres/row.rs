//! The row of a run.

/// What a process that works on a run knows of its row, since nobody else changes that meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowState {
    /// How often the run was changed other than by appending lines.
    pub(super) version: i64,
    /// Whether failures are counted, which the next outcome sets to 0.
    pub(super) has_failures: bool,
}
