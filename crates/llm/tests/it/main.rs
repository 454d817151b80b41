//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

mod around;
mod embedding;
mod errors;
mod http;
mod messages;
mod mocking;
mod scripted;
mod servers;
mod streams;
mod table;
