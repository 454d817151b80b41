//! Runs on the real server of Restate. All tests are one program, so that they are linked once.
//!
//! Tests that need the server are skipped without one. `scripts/local-restate start` starts one,
//! and `scripts/check --engines` runs them all.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the helpers of tests may, as the tests do"
)]

mod support;

mod changed;
mod conformance;
mod ending;
mod keys;
mod outage;
mod partition;
mod reasoning;
mod settings;
mod waiting;
