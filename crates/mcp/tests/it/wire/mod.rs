//! Messages over lines.

mod messages;
mod support;
