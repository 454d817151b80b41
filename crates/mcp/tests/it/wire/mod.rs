//! Messages over lines.

mod messages;
mod quick_calls;
mod support;
mod tool_calls;
