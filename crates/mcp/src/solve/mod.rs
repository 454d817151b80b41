//! The tool `solve`: whole runs with a client of the server.

mod ask;
mod backend;
mod drive;
mod entry;
mod request;
mod result;
mod running;
mod schema;
mod settings;
mod state;
mod tasks;
mod tool;
mod view;
mod watch;

pub(crate) use settings::SolveSettings;
pub(crate) use tasks::Tasks;
pub(crate) use tool::Solve;
pub(crate) use view::shown;
