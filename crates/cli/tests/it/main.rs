//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may"
)]

mod command;
mod debugging;
mod eval;
mod forks;
mod hostile_places;
#[cfg(feature = "mcp")]
mod mcp;
mod readme;
mod runs;
#[cfg(unix)]
mod server;
mod shown;
#[cfg(feature = "studio")]
mod studio;
mod support;
#[cfg(all(feature = "mcp", unix))]
mod tool_servers;
mod trace;
