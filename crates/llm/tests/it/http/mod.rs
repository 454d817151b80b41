//! The clients over HTTP against a real server on this machine. Where a module does not say which, it
//! is `OpenAiClient`: what they have in common is tested there.
#![cfg(feature = "http")]
// Clippy knows tests by their attribute, and so takes the helpers of a test for library code.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

mod anthropic;
mod embedders;
mod environment;
mod everyone;
mod failures;
mod faults;
mod formats;
mod ollama;
mod recorded;
mod replies;
mod requests;
mod secrets;
mod settings;
mod streams;
mod tools_read;
mod tools_sent;
