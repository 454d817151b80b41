use std::time::Duration;

use cogwork_flow::{BuildError, Flow};

use crate::conformance::State;

pub(crate) type Built = Result<Flow<State>, BuildError>;

/// Long enough to be noticed, and short enough to be waited for.
pub(crate) const SHORT: Duration = Duration::from_millis(60);

/// Longer than any test.
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// The event that the suite answers.
pub(crate) const EVENT: &str = "question";

pub(super) const UNLUCKY: &str = "13 is unlucky";
