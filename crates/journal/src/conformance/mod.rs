//! Cases that every store of runs and every durable engine for flows has to pass.
//!
//! The same cases run over all stores and engines of this project: files, SQLite, PostgreSQL and
//! Restate. They also run over a custom one. Each case is a promise that programs rely on, for
//! example that a run continues after a crash at each of its calls, and that no recorded call is made
//! again.
//!
//! | to test … | implement | and call |
//! |---|---|---|
//! | a store, such as a [`Log`](cogwork_flow::engine::Log) | [`TestedStore`] | [`check_store`] |
//! | an engine that drives flows itself | [`TestedEngine`] | [`check_engine`] |
//!
//! # Crashes
//!
//! The suite counts the calls of all nodes outside of the engine. A process crashes by dropping the
//! future that executes the run, at each call of the run in turn. After that:
//!
//! - The run comes to the same end as without a crash.
//! - A call whose outcome had been used isn't made again, because its outcome had to be on record.
//! - Only calls that were in progress at the crash are made again.

mod subject;
pub use subject::{Attempt, Open, Opened, Stopped, TestedEngine, TestedStore};

mod suite;
pub use suite::{ConformanceReport, check_engine, check_store};

mod engine_cases;
mod flows;
mod store_cases;
mod trial;
mod world;

/// The state of all flows of the suite.
pub type State = Vec<u64>;
