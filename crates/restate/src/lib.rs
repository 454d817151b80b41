//! Runs flows of `cogwork-flow` as workflows of [Restate](https://restate.dev), a durable engine.
//!
//! Restate keeps the record of a run and calls a worker over HTTP to continue it. If a worker is
//! killed, another one continues the run, and no recorded call is made again. The flow doesn't
//! change:
//!
//! ```no_run
//! use cogwork_flow::{Flow, from_phases};
//! use cogwork_restate::{HttpServer, Workflow};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let charge = from_phases(
//!         |order: &mut Vec<u32>| order.iter().sum(),
//!         |amount: u32| async move { Ok::<_, std::io::Error>(format!("paid {amount}")) },
//!         |order, _receipt| order.clear(),
//!     );
//!     let flow = Flow::builder("shop")
//!         .start("charge")
//!         .node("charge", charge)
//!         .end("charge", "default")
//!         .build()?;
//!
//!     let workflow = Workflow::new("Shop", flow)?;
//!     HttpServer::new(workflow.endpoint()).listen_and_serve(([127, 0, 0, 1], 9080).into()).await?;
//!     Ok(())
//! }
//! ```
//!
//! After the worker's address is registered with Restate, a [`Client`] starts runs:
//!
//! ```no_run
//! use cogwork_restate::Client;
//!
//! # async fn order() -> Result<(), Box<dyn std::error::Error>> {
//! let shop = Client::new("http://127.0.0.1:8080", "Shop")?;
//! shop.start("order-17", &vec![30, 12]).await?;
//! let order: Vec<u32> = shop.attach("order-17").await?;
//! assert!(order.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # What is recorded
//!
//! | in the flow | in Restate's journal |
//! |---|---|
//! | `exec` with its retries, also that of an item of a batch | a `run` entry with the name of the step, and the outcome or the error |
//! | a [sleep](cogwork_flow::FlowBuilder::sleep) | a sleep |
//! | a [wait](cogwork_flow::Wait) | a promise, and a sleep if it has a timeout |
//! | a [recorded](cogwork_flow::engine::recorded()) call | a `run` entry |
//! | the node that comes next | the state `progress` |
//!
//! Restate's own retries of `run` entries are never used, because the flow decides about retries.
//! While a run sleeps or waits, it uses no memory in the worker. Items, branches and the items of
//! batches run one after the other, because Restate replays calls by their position.
//!
//! # Changed flows
//!
//! A run stays at the deployment (the registered address) at which it began. Its first entry is the
//! [`FlowGraph`](cogwork_flow::draw::FlowGraph) of its flow. If a different flow is served at the same address,
//! the run is refused with the difference. Nothing is lost: Restate repeats the attempt, by default
//! 70 times, and then pauses the run. It continues once its flow is served there again, and if it
//! is paused, once it is resumed. So serve a changed flow at
//! a new address, and keep the old one until its runs have ended.
//!
//! # Versions
//!
//! Tested with restate-sdk 0.13 and version 1.7 of the server.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod client;
pub use client::{Client, ClientError, Started};

mod http_server;
pub use http_server::HttpServer;

mod progress;
pub use progress::{RunProgress, WaitsFor};

mod workflow;
pub use workflow::{Workflow, WorkflowError};

mod answers;
mod discovery;
mod handlers;
mod journal;
mod outcome;
mod service;
mod settings;
mod stopped;
mod timers;

pub use restate_sdk;

/// The default maximum size of a message to Restate, in bytes: 8 MiB. The server warns from 10 MiB
/// on, and refuses messages above 32 MiB. A run with an answer of 24 MiB, after three outcomes of
/// the same size, was never continued by version 1.7.
pub const DEFAULT_MAX_MESSAGE: usize = 8 << 20;

/// The code in the README, compiled as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
