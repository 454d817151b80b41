//! Sessions and strategies as resources.

mod address;
mod list;
mod read;
mod sequential;
mod session;
mod strategies;

pub(crate) use address::Address;
pub(crate) use list::{list, templates};
pub(crate) use read::read;
pub(crate) use session::{SessionFormat, newest};
pub(crate) use strategies::parameter_line;
