//! Nodes around a node: each its own file, each touching `exec` only (or, for `focus`, the state).

mod fallback;
mod focus;
mod retry;
mod timeout;

pub use fallback::Fallback;
pub use focus::Focus;
pub use retry::{Again, Retry, RetryError};
pub use timeout::{Elapsed, Timeout, TimeoutError};
