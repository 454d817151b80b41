//! Messages over lines.

mod messages;
pub(crate) mod support;
