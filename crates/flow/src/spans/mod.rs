//! The `tracing` spans of runs and steps. Without the feature `tracing`, these types are empty, and
//! their methods do nothing.

#[cfg(not(feature = "tracing"))]
mod disabled;
#[cfg(feature = "tracing")]
mod enabled;

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::{RunSpan, StepSpan, are_notes_wanted, noted, replayed, retrying};
#[cfg(feature = "tracing")]
pub(crate) use enabled::{RunSpan, StepSpan, are_notes_wanted, noted, replayed, retrying};
