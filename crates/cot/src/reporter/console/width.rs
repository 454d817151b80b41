//! The width of the output.

/// The maximum width of the text, in columns. Longer lines are hard to read.
pub(super) const MAX_COLUMNS: usize = 100;

/// The width of the output.
#[derive(Debug, Clone, Copy)]
pub(super) enum Width {
    Unlimited,
    Columns(usize),
    /// That of the terminal, which may change.
    OfStdout,
}

impl Width {
    /// Returns the number of columns at this moment.
    pub(super) fn columns(self) -> Option<usize> {
        match self {
            Self::Unlimited => None,
            Self::Columns(columns) => Some(columns),
            Self::OfStdout => {
                let (_, columns) = console::Term::stdout().size();
                Some(usize::from(columns).min(MAX_COLUMNS))
            }
        }
    }
}
