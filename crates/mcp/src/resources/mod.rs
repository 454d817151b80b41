//! Sessions and strategies as resources.

mod address;
mod cursor;
mod entries;
mod list;
mod read;
mod sequential;
mod strategies;
mod view;
mod views;

pub(crate) use address::Address;
pub(crate) use entries::EntriesView;
pub(crate) use list::{list, templates};
pub(crate) use read::read;
pub(crate) use strategies::parameter_line;
pub(crate) use view::{SessionFormat, SessionView};
pub(crate) use views::Views;
