//! The kinds of places in a flow other than plain nodes.

mod around;
pub(crate) mod batch;
pub(crate) mod branches;
pub(crate) mod each;
pub(crate) mod subflow;
pub(crate) mod wait;
