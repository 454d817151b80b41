//! `OpenAiClient` against a real HTTP server on this machine.
#![cfg(feature = "http")]
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

mod environment;
mod failures;
mod faults;
mod replies;
mod requests;
mod secrets;
mod settings;
