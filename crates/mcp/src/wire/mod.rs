//! Messages as lines of JSON over a pair of a reader and a writer.

mod direct;
mod id_finder;
mod in_flight;
mod lines;
mod message;
mod outgoing;
mod quick;
mod tool_call;
mod transport;

#[cfg(feature = "http")]
pub(crate) use {id_finder::IdFinder, message::Incoming};

pub(crate) use direct::{Direct, Opened};
pub(crate) use quick::{QuickResult, QuickTool, Storing};
pub(crate) use transport::LineTransport;
