//! A server for the [Model Context Protocol](https://modelcontextprotocol.io): reasoning strategies
//! and the chain of thought inside assistants.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod server;
pub use server::Server;

mod builder;
pub use builder::ServerBuilder;

#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
pub use http::HttpSettings;

mod limits;
mod lines;
pub use limits::ServerLimits;

mod error;
pub use error::ServerError;

mod arguments;
mod connection;
mod failure;
mod guided;
mod handler;
mod markdown;
mod method;
mod prompts;
mod resources;
mod run;
mod sequential;
mod solve;
mod store;
mod think;
mod tool;
mod tools;

/// The code in the README, compiled and run as a doctest.
#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../README.md")]
struct Readme;
