//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may"
)]

mod agent;
mod approval;
mod bad_files;
mod good_files;
mod guide;
mod hints;
mod hostile;
mod hostile_places;
mod hostile_replies;
#[cfg(feature = "http")]
mod model_servers;
#[cfg(feature = "http")]
mod models;
mod new_nodes;
#[cfg(not(feature = "mcp"))]
mod no_servers;
#[cfg(all(feature = "mcp", unix))]
#[path = "../../../tools/tests/mcp/raw_server.rs"]
mod raw_server;
mod recorded;
mod running;
mod schema;
mod secrets;
#[cfg(all(feature = "mcp", unix))]
mod servers;
mod shown;
mod support;
mod unready_tools;
mod visits;
mod waiting;
mod work;
