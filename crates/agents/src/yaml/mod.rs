//! Reads YAML within limits, with the place of every value.
//!
//! A typed deserializer stops at the first problem. With a tree, all problems can be reported at
//! once, each with its line and column.

mod hint;
mod read;
mod scalar;
mod tree;
mod variables;

pub(crate) use read::{MAX_BYTES, read};
pub(crate) use tree::{Entry, Path, Text, Tree, Value};
pub(crate) use variables::{Environment, Secrets};
