//! The shared part of the HTTP clients: settings, the HTTP exchange, reading failures and streams, and
//! redaction. Each client fills in a [`Protocol`], a table of what differs, next to its wire format.

mod settings;
pub use settings::HttpClientBuilder;

pub use plain::http_client;

mod base_url;
mod braces;
mod call_ids;
pub(crate) mod calls;
mod check;
mod client;
mod connection;
mod embedding;
mod environment;
mod errors;
mod excerpt;
mod exchange;
pub(crate) mod failure;
mod headers;
pub(crate) mod json;
mod plain;
mod protocol;
mod retry_after;
mod sse;
mod streaming;
mod tls;
pub(crate) mod tools;

pub(crate) use client::client;
pub(crate) use connection::Connection;
pub(crate) use embedding::{EmbeddingConnection, MOST_VECTORS, Numbers, embedder};
pub(crate) use environment::from_env;
pub(crate) use errors::invalid;
pub(crate) use excerpt::Secrets;
pub(crate) use protocol::{Call, Chat, Extra, Framing, Protocol, Reader};
pub(crate) use sse::Event;
