//! The progress of a value.

/// What happened to a value with a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The value may go on.
    More,
    /// The character ended the value, and belongs to it.
    Closed,
    /// The value ended before the character, in the same line.
    EndedInLine,
    /// The value ended in an earlier line. The character comes after `column` blanks.
    EndedBefore { column: usize },
}
