//! The tools `think` and `think_session`: the model of the host thinks, and the table of a strategy
//! checks each move.

mod change;
mod report;
mod session;
mod tool;

pub(crate) use session::shown;
pub(crate) use tool::{MANAGE, NAME, manage_tool, tool};
