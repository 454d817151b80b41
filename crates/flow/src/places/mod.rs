//! What a name of a flow can stand for, except for a plain node.

pub(crate) mod batch;
pub(crate) mod branches;
pub(crate) mod each;
pub(crate) mod sleep;
pub(crate) mod subflow;
pub(crate) mod wait;
