//! Sessions and strategies as resources.

mod changes;
mod hostile;
mod lists;
mod sessions;
mod strategies;
pub(crate) mod support;
