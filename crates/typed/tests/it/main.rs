//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may"
)]

mod ask;
mod asking;
mod compared;
mod damage;
mod damaged;
mod doubtful;
mod hostile;
mod lines;
mod nodes;
mod prompts;
mod reading;
mod resumed;
mod shown;
mod streaming;
mod time;
