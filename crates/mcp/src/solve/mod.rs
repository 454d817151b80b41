//! The tool `solve`: whole runs with a client of the server.

mod backend;
mod drive;
mod entry;
mod request;
mod result;
mod running;
mod state;
mod tool;
mod view;

pub(crate) use backend::SolveSettings;
pub(crate) use tool::Solve;
pub(crate) use tool::Tasks;
pub(crate) use view::shown;
