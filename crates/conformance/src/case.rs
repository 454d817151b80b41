use crate::{Ability, BrokenPromise};

/// A case of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConformanceCase {
    /// The name, which is the name of the generated test.
    pub name: &'static str,
    /// What the contract demands.
    pub promise: &'static str,
    /// The abilities without which the case is skipped.
    pub needs: &'static [Ability],
}

/// The result of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseResult {
    /// The subject does what the case demands.
    Passed,
    /// The subject lacks an ability.
    Skipped {
        /// The ability.
        lacks: Ability,
        /// Why the subject lacks it.
        why: &'static str,
    },
    /// The subject doesn't do what the case demands.
    Failed(BrokenPromise),
}
