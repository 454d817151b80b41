//! How large a number is, how long a text, or how many items there are.

use std::fmt;

/// The bounds of a number, of the characters of a text, or of the items of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
}

// Counts are small enough for floats.
impl Bounds {
    pub(crate) fn of_counts(least: usize, most: usize) -> Self {
        Self {
            min: Some(least as f64),
            max: Some(most as f64),
        }
    }

    pub(crate) fn contain(self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    pub(crate) fn contain_count(self, count: usize) -> bool {
        self.contain(count as f64)
    }

    pub(super) fn at_most(self, most: usize) -> Self {
        let max = self.max.unwrap_or(f64::INFINITY).min(most as f64);
        Self {
            // A minimum of the type holds even if it takes more room.
            max: Some(max.max(self.min.unwrap_or_default())),
            ..self
        }
    }

    /// Returns the maximum count; 0 if there is none.
    pub(super) fn most(self) -> usize {
        self.max.unwrap_or_default() as usize
    }

    /// Writes how many are expected.
    pub(crate) fn count(self, what: &str) -> String {
        let is_one = self.max.or(self.min) == Some(1.0);
        let what = what.strip_suffix('s').filter(|_| is_one).unwrap_or(what);
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => format!("{min} {what}"),
            (Some(min), Some(max)) => format!("{min} to {max} {what}"),
            (Some(min), None) => format!("at least {min} {what}"),
            (None, Some(max)) => format!("at most {max} {what}"),
            (None, None) => what.to_owned(),
        }
    }
}

/// Writes which numbers are expected.
impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) => write!(f, " from {min} to {max}"),
            (Some(min), None) => write!(f, " from {min}"),
            (None, Some(max)) => write!(f, " of at most {max}"),
            (None, None) => Ok(()),
        }
    }
}
