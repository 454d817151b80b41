//! Finds the value in a reply.

mod find;
mod tree;
mod yaml;

pub(crate) use find::{Candidate, Source, Wanted, candidates};
pub(crate) use tree::{Node, Tree};
