//! Finds the value in a reply.

mod find;
mod tree;
mod yaml;

pub(crate) use find::{Candidate, Source, candidates};
pub(crate) use tree::{Node, Tree};
