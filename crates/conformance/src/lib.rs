//! Tests that every store of runs and every durable engine for flows of `cogwork-flow` has to pass.
//!
//! The same cases run over all stores and engines of this project: memory, files, SQLite,
//! PostgreSQL and Restate. With this crate, they also run over a custom one. Each case is a promise
//! that programs rely on, for example that a run continues after a crash at each of its calls, and
//! that no recorded call is made again.
//!
//! | to test … | implement | and generate tests with |
//! |---|---|---|
//! | a store, such as a [`Log`](cogwork_flow::journal::Log) | [`TestedStore`] | [`store_tests!`] |
//! | an engine that drives flows itself | [`TestedEngine`] | [`engine_tests!`] |
//!
//! ```
//! use async_trait::async_trait;
//! use cogwork_conformance::{Ability, Attempt, MemoryEngine, Refusal, Stopped, TestedEngine};
//!
//! struct MyEngine(MemoryEngine);
//!
//! #[async_trait]
//! impl TestedEngine for MyEngine {
//!     fn name(&self) -> String {
//!         "my engine".to_owned()
//!     }
//!
//!     fn lacks(&self, ability: Ability) -> Option<&'static str> {
//!         match ability {
//!             Ability::Cancellation => Some("runs cannot be cancelled yet"),
//!             _ => self.0.lacks(ability),
//!         }
//!     }
//!
//!     async fn proceed(&self, attempt: Attempt) -> Result<Stopped, Refusal> {
//!         self.0.proceed(attempt).await
//!     }
//!
//!     async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal> {
//!         self.0.deliver(run_id, event, answer).await
//!     }
//! }
//!
//! mod conformance {
//!     use super::*;
//!
//!     // One `#[test]` for each case, with a new engine each.
//!     cogwork_conformance::engine_tests!(Some(MyEngine(MemoryEngine::new())));
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // Or all of them at once, with a report.
//! let report = cogwork_conformance::check_engine(|| MyEngine(MemoryEngine::new())).await;
//! assert!(report.failed().is_empty(), "{report}");
//! # }
//! ```
//!
//! # Crashes
//!
//! The suite counts the calls of all nodes outside of the engine. A process crashes by dropping the
//! future that executes the run, at each call of the run in turn. After that:
//!
//! - The run comes to the same end as without a crash.
//! - A call whose outcome had been used isn't made again, because its outcome had to be on record.
//! - Only calls that were in progress at the crash are made again.
//!
//! # Abilities
//!
//! Not every store can do everything: a journal in memory has no second process, and a database has
//! no torn writes. A subject names what it [lacks](TestedStore::lacks), and why. The cases that
//! need it are reported as skipped.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod ability;
pub use ability::Ability;

mod case;
pub use case::{CaseResult, ConformanceCase};

mod generated;
#[doc(hidden)]
pub use generated::{run_engine_test, run_store_test};

mod memory;
pub use memory::MemoryEngine;

mod broken_promise;
pub use broken_promise::BrokenPromise;

mod refusal;
pub use refusal::{Refusal, RefusalKind};

mod report;
pub use report::ConformanceReport;

mod run;
pub use run::execute;

mod store_engine;
pub use store_engine::StoreEngine;

mod suite;
pub use suite::{
    check_engine, check_engine_case, check_store, check_store_case, engine_cases, store_cases,
};

mod tested_engine;
pub use tested_engine::{Attempt, Stopped, TestedEngine};

mod tested_store;
pub use tested_store::{ListedRun, ListedStatus, Open, Opened, TestedStore};

mod engine_cases;
mod flows;
mod macros;
mod store_cases;
mod trial;
mod world;

/// The state of all flows of the suite.
pub type State = Vec<u64>;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
