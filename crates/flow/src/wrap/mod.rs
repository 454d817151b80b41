//! Wrappers around a node, created by methods of [`Node`](crate::Node).
//!
//! | wrapper | created by | effect |
//! |---|---|---|
//! | [`Retry`] | [`Node::retry`](crate::Node::retry) | retries `exec` when it fails |
//! | [`Timeout`] | [`Node::timeout`](crate::Node::timeout) | limits the time of `exec` |
//! | [`Fallback`] | [`Node::fallback`](crate::Node::fallback) | replaces the outcome of a failed `exec` |
//! | [`Focus`] | [`Node::focus`](crate::Node::focus) | applies the node to a part of a larger state |

mod fallback;
mod focus;
mod retry;
mod timeout;

pub use fallback::Fallback;
pub use focus::Focus;
pub use retry::{Retry, RetryError};
pub use timeout::{Elapsed, Timeout};
