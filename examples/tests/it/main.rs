//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

mod program;

#[cfg(feature = "studio")]
mod chat;
mod cookbook;
mod links;
mod names;
mod outputs;
mod packages;
mod records;
mod rule_based;
mod stage_walk;
#[cfg(feature = "studio")]
mod tickets;
