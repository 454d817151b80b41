//! The tool `solve`.

mod arguments;
mod budgets;
mod cancelling;
#[cfg(feature = "openai")]
mod environment;
#[cfg(feature = "agents")]
mod flows;
mod runs;
mod stalled;
mod tasks;
