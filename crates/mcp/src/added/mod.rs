//! What a program serves in addition to the built-in tools.

mod capabilities;
mod handler;
mod lists;
mod settings;
mod tool;

pub(crate) use capabilities::{joined, joined_filter};
pub(crate) use handler::{AddedHandler, of_kind, unexpected};
pub(crate) use lists::is_added_page;
pub(crate) use tool::AddedTool;
