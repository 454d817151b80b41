//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod damage;
mod index;
mod memory;
mod notes;
mod places;
mod support;
