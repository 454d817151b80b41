//! Replies that are requested as JSON: their schemas and prompts, runs of every strategy, servers
//! that refuse a form, and malformed replies.

mod malformed;
mod refused;
mod runs;
pub(crate) mod scripts;
