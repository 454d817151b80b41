//! Asking, and what it counts.

mod answers;
mod asking;
mod meter;
