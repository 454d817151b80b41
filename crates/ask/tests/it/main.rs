//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

mod allowance;
mod answers;
mod asking;
mod growing;
mod json;
mod shown;
