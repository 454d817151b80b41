//! Strategies that run by themselves, each with scripted models: right, wrong, empty and endless ones.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the helpers of tests may, as the tests do")]

mod react;
mod resumed;
mod self_consistency;
mod support;
mod tables;
mod tree_of_thoughts;
