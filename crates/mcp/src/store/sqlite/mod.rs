//! Sessions in a SQLite database, which several processes may use at the same time.

mod chain;
mod database;
mod entries;
mod numbers;
mod outcome;
mod place;
mod queue;
mod rows;
mod select;
mod tables;

pub(super) use database::Database;
pub(super) use rows::Rows;
