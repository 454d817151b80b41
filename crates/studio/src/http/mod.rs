//! The server: connections, who may call it, and the answers that aren't about runs.

mod access;
mod assets;
mod headers;
mod listen;
mod refusal;

pub(crate) use access::Access;
pub(crate) use listen::serve;
pub(crate) use refusal::Refusal;
