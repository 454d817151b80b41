//! Nodes around a node, as [`Node`](crate::Node) offers them in its methods.
//!
//! | wrapper | made by | what it changes |
//! |---|---|---|
//! | [`Retry`] | [`Node::retry`](crate::Node::retry) | `exec` is tried again when it fails |
//! | [`Timeout`] | [`Node::timeout`](crate::Node::timeout) | `exec` is given only so much time |
//! | [`Fallback`] | [`Node::fallback`](crate::Node::fallback) | when `exec` fails, a closure makes an outcome |
//! | [`Focus`] | [`Node::focus`](crate::Node::focus) | the node works on a part of a larger state |

mod failed_attempt;
mod fallback;
mod focus;
mod retry;
mod timeout;

pub use failed_attempt::FailedAttempt;
pub use fallback::Fallback;
pub use focus::Focus;
pub use retry::{Again, Retry, RetryError};
pub use timeout::{Elapsed, Timeout, TimeoutError};
