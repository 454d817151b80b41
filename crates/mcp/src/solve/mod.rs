//! The tool `solve`: whole runs with a client of the server.

mod backend;
mod drive;
mod entry;
mod request;
mod result;
mod running;
mod tool;

pub(crate) use backend::SolveSettings;
pub(crate) use entry::shown;
pub(crate) use tool::Solve;
pub(crate) use tool::Tasks;
