//! Reports of calls to models, in the events of a run.

pub(crate) mod embedding;
pub(crate) mod event;
pub(crate) mod report;
pub(crate) mod reporting;
pub(crate) mod tool;
