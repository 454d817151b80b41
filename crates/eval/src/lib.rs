//! Evaluations of ways to ask language models: a suite has problems with exact checks and arms, which
//! are flows from YAML; its runs are kept in a store, and their results make a table.
//!
//! ```text
//! Suite (problems × arms × repetitions) → Evaluation, over a Store → Table → text, Markdown, CSV, JSON, page
//! ```
//!
//! | for | see |
//! |---|---|
//! | reading a suite | [`Suite::load`], [`Problem`], [`Check`], [`Family`] |
//! | making its runs | [`Evaluation`], [`Progress`] |
//! | the results | [`Table`], [`ArmResult`], [`RunResult`], [`page()`] |
//! | choosing an arm | [`Pick`] |
//! | the statistics | [`stats`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod calendar;
mod check;
mod expression;
mod family;
mod page;
mod pick;
mod place;
mod problem;
mod puzzles;
mod random;
mod run;
pub mod stats;
mod suite;
mod table;

pub use check::{Check, Number};
pub use family::Family;
pub use page::page;
pub use pick::Pick;
pub use problem::Problem;
pub use run::{Evaluation, Progress, RunResult};
pub use suite::{Arm, Suite, SuiteError, SuiteLimits};
pub use table::{ArmResult, Difference, Share, Table};

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
