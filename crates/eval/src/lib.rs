//! Evaluations of ways to ask language models: a suite has problems with exact checks and arms, which
//! are flows from YAML; its runs are kept in a store, and their results make a table.
//!
//! ```text
//! Suite (problems × arms × repetitions) → Evaluation, over a Store → Table → text, Markdown, CSV, JSON, page
//! ```
//!
//! | for | see |
//! |---|---|
//! | reading a suite | [`Suite::load`], [`Problem`], [`Check`], [`generate`] |
//! | a tool for its arms | [`calculator`] |
//! | making its runs | [`Evaluation`] |
//! | the results | [`Table`], [`ArmResult`], [`RunResult`] |
//! | choosing an arm | [`Pick`] |
//! | the statistics | [`stats`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod calculation;
mod check;
mod columns;
mod cost;
mod family;
mod forms;
mod judge;
mod pick;
mod problem;
mod random;
mod result;
mod run;
pub mod stats;
mod suite;

pub use calculation::{Calculation, calculator};
pub use check::{Check, Number};
pub use family::generate;
pub use pick::Pick;
pub use problem::Problem;
pub use result::{ArmResult, RunResult, Share, Table};
pub use run::Evaluation;
pub use suite::{Arm, Suite, SuiteError, SuiteLimits};

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
