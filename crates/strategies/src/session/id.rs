use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a thought in its session, counted from 1 over all branches.
///
/// Models and snapshots refer to thoughts by this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThoughtId(u32);

impl ThoughtId {
    /// Creates an id from a number. The number isn't checked against a session.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the index of the thought in the session's list.
    pub(super) fn index(self) -> Option<usize> {
        usize::try_from(self.0).ok()?.checked_sub(1)
    }

    /// Returns the id of the thought at an index of the session's list.
    pub(super) fn at(index: usize) -> Self {
        // The maximum number of thoughts is far below `u32::MAX`.
        Self(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1))
    }
}

impl fmt::Display for ThoughtId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a branch in its session, counted from 0 in the order of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchId(u32);

impl BranchId {
    /// The branch on which every session starts, named `main`.
    pub const MAIN: Self = Self(0);

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the index of the branch in the session's list.
    pub(super) fn index(self) -> Option<usize> {
        usize::try_from(self.0).ok()
    }

    /// Returns the id of the branch at an index of the session's list.
    pub(super) fn at(index: usize) -> Self {
        // The maximum number of branches is far below `u32::MAX`.
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for BranchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
