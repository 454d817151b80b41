//! Messages over lines.

mod calls;
mod messages;
mod support;
