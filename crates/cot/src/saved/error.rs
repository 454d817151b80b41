use std::error::Error;
use std::fmt;

use crate::complaint::Complaint;

/// Why a saved state could not be read.
///
/// `{}` is one line of bounded length, fit for a terminal whatever the file holds: the line and the
/// column, what is wrong, and what would have been accepted. A fault between parts, such as a
/// solution without its thought, names the parts instead of a place. `{:#}` adds the lines around
/// the place.
#[derive(Clone, PartialEq, Eq)]
pub struct StateError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    complaint: Complaint,
    too_long: bool,
}

impl StateError {
    pub(super) fn new(complaint: Complaint) -> Self {
        Self(Box::new(Inner {
            complaint,
            too_long: false,
        }))
    }

    pub(super) fn too_long(complaint: Complaint) -> Self {
        Self(Box::new(Inner {
            complaint,
            too_long: true,
        }))
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        self.0.complaint.message()
    }

    /// The line in the text, from 1, where there is one.
    pub fn line(&self) -> Option<usize> {
        self.0.complaint.line()
    }

    /// The column in that line, from 1, in characters.
    pub fn column(&self) -> Option<usize> {
        self.0.complaint.column()
    }

    /// Whether the text is longer than what is read.
    pub fn is_too_long(&self) -> bool {
        self.0.too_long
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.complaint, f)
    }
}

impl fmt::Debug for StateError {
    /// The sentence of `{:#}`: what a program shows that returns the error from `main`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl Error for StateError {}
