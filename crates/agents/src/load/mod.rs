//! Turns a file into a flow: reads it, checks it against the schema, creates the nodes, and
//! connects them.

mod file_place;
mod files;
mod flow;
mod loading;
mod making;
mod masked;
mod tools;
mod wiring;

pub(crate) use file_place::FilePlace;
pub(crate) use loading::{Assembled, Loading, SideBySide};
pub use making::Making;
pub(crate) use tools::ServerSettings;
pub(crate) use wiring::NodeIds;
