//! The events of a run as JSON.

pub(crate) mod content;
pub(crate) mod header;
