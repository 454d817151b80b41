//! The integration tests, as one program. Those of MCP servers are another, because its servers are the program itself.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may"
)]

mod calls;
mod outputs;
mod shown;
mod spans;
