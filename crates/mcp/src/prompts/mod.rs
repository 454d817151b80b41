//! Strategies as prompts, which explain to the model of a host how to work with the tools, and the
//! completion of names.

mod arguments;
mod completion;
mod list;
mod text;

pub(crate) use arguments::Ways;
pub(crate) use completion::complete;
pub(crate) use list::get;
pub(crate) use list::list;
