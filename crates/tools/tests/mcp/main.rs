//! Tools of MCP servers. The servers are this program itself, started with another argument.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

mod calls;
mod fixture;
mod hostile_servers;
mod http;
mod official;
mod raw_server;
mod sdk_server;
mod starts;
