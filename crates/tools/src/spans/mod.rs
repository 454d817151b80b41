//! The `tracing` spans of calls. Without the feature `tracing`, they do nothing.

#[cfg(not(feature = "tracing"))]
mod disabled;
#[cfg(feature = "tracing")]
mod enabled;

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::CallSpan;
#[cfg(feature = "tracing")]
pub(crate) use enabled::CallSpan;
