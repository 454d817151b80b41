//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

mod command;
mod debugging;
mod hostile_places;
mod readme;
#[cfg(unix)]
mod server;
mod shown;
