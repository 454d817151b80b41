//! A store that somebody else might write: over `Log`, with its runs in memory.

mod disk;
mod generous;
mod log;
mod mutant;
mod store;

pub(crate) use mutant::Mutant;
pub(crate) use store::OwnStore;
