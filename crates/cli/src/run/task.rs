//! What the command is asked to run.

use std::path::Path;

use crate::arguments::{Fork, RunOptions};

/// What to run.
pub(super) struct Task<'a> {
    pub(super) file: &'a Path,
    /// Where journals are.
    pub(super) journal: Option<&'a str>,
    pub(super) begin: Begin<'a>,
    pub(super) options: &'a RunOptions,
}

/// Where a run begins.
pub(super) enum Begin<'a> {
    Input { input: &'a str, id: Option<&'a str> },
    Resume(&'a str),
    Fork(&'a Fork),
}
