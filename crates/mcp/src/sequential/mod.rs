//! The tool `sequentialthinking`, which accepts and answers what the server of that name does.
//!
//! Schemas, coercions, errors and results are those of version 2026.8.31 of the package
//! `@modelcontextprotocol/server-sequential-thinking`. `scripts/check-mcp` compares both.

mod answer;
mod arguments;
mod branches;
mod coerce;
mod definition;
mod history;
mod log;
mod numbers;
mod thought;
mod tool;

pub(crate) use thought::Thought;
pub(crate) use tool::SequentialThinking;
