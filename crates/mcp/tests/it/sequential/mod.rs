//! The tool `sequentialthinking`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod bounds;
mod coercions;
mod original;
mod sessions;
mod support;
