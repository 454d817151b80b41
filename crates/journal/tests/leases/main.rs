//! The lease protocol: the decisions of workers, run as they are by many simulated workers whose
//! messages, clocks and processes fail, and the statements of PostgreSQL, compared with the model of
//! the database that the simulation uses.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

mod again;
#[cfg_attr(
    not(feature = "postgres"),
    allow(dead_code, reason = "the tests with a server use more")
)]
mod model;
mod process;
mod simulation;
#[cfg(feature = "postgres")]
mod statements;
mod worker;
mod world;

// The files of the library, which aren't public.
#[allow(dead_code, reason = "not everything is used in these tests")]
#[path = "../../src/mutex.rs"]
mod mutex;
#[allow(dead_code, reason = "not everything is used in these tests")]
#[path = "../../src/postgres/protocol/mod.rs"]
mod protocol;
