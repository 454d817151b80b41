//! The kinds of places in a flow other than plain nodes.

pub(crate) mod branches;
pub(crate) mod items;
pub(crate) mod wait;
