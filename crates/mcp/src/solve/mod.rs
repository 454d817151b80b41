//! The tool `solve`: whole runs with a client of the server.

mod backend;
mod drive;
mod session;
mod tool;

pub(crate) use backend::{Backend, SolveSettings};
pub(crate) use session::shown;
pub(crate) use tool::{NAME, tool};
