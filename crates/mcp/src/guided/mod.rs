//! The tool `reason`: reasoning with the model of the host, through a tool alone.
//!
//! A session is a run of a strategy or of the chain of thought whose model is the host. Its entries
//! are what the host gave it, in order. The run follows from them, so a session is rebuilt by
//! giving the same replies again.

mod entry;
mod questions;
mod replay;
mod text;
mod tool;

pub(crate) use tool::{NAME, shown, tool};
