//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

mod program;
mod support;

mod cookbook;
mod links;
mod names;
mod outputs;
mod packages;
mod read_reply;
mod records;
mod rule_based_expressions;
mod rule_based_turns;
mod rule_based_words;
mod stage_walk;
#[cfg(feature = "studio")]
mod tickets;
