//! Sessions and strategies as resources.

mod hostile;
mod lists;
mod other_kinds;
mod sessions;
mod strategies;
pub(crate) mod support;
