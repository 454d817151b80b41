//! The clients over HTTP against a real server on this machine. A test of what the protocols have in
//! common uses `OpenAiClient`, or goes over all of them.
#![cfg(feature = "http")]
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

mod embedders;
mod environment;
mod failures;
mod faults;
mod recorded;
mod replies;
mod requests;
mod secrets;
mod settings;
mod streams;
mod tools_read;
mod tools_sent;
