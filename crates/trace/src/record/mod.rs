//! The format of records: a header, then one event per line.

pub(crate) mod chat;
pub(crate) mod content;
pub(crate) mod cut;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod header;
pub(crate) mod limits;
mod lines;
pub(crate) mod message_ids;
pub(crate) mod reader;
pub(crate) mod writer;
