//! Sessions and strategies as resources.

mod hostile;
mod lists;
mod sessions;
mod strategies;
pub(crate) mod support;
