//! YAML with the place of everything, read within bounds.
//!
//! A typed reader stops at the first thing it stumbles over. A tree with all its keys lets a check tell
//! every problem at once, each with its line and column.

mod read;
mod scalar;
mod tree;
mod variables;

pub(crate) use read::{MAX_BYTES, read};
pub(crate) use tree::{Entry, Path, Text, Tree, Value};
pub(crate) use variables::{Environment, Secrets};
