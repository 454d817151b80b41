//! The tool `sequentialthinking`, which accepts and answers what the server of that name does.
//!
//! Schemas and results are those of version 2026.8.31 of the package
//! `@modelcontextprotocol/server-sequential-thinking`. `scripts/check-mcp` compares both.

mod history;
mod tool;

pub(crate) use history::Thought;
pub(crate) use tool::SequentialThinking;
