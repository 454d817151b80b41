//! From a file to a flow: read, checked against the schema, made node by node, wired.

mod file_place;
mod files;
mod flow;
mod ids;
mod loading;
mod making;
mod wiring;

pub(crate) use file_place::FilePlace;
pub(crate) use ids::NodeIds;
pub(crate) use loading::{Assembled, Loading};
pub use making::Making;
