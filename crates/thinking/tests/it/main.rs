//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may"
)]

mod memory;
mod registry;
mod thinking;
