//! The format of records: a header, then one event per line.

pub(crate) mod content;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod header;
pub(crate) mod reader;
