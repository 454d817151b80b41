//! Asking, and what it counts.

mod allowance;
mod answers;
mod asking;
mod shown;
