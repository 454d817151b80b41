//! Turns a file into a flow: reads it, checks it against the schema, creates the nodes, and
//! connects them.

mod file_place;
mod file_tools;
mod files;
mod flow;
mod ids;
mod loading;
mod making;
mod masked;
#[cfg(feature = "mcp")]
mod server;
mod tools;
mod wiring;

pub(crate) use file_place::FilePlace;
pub(crate) use ids::NodeIds;
pub(crate) use loading::{Assembled, Loading};
pub use making::Making;
