//! Messages over lines.

mod batches;
mod messages;
mod quick_calls;
mod support;
mod tool_calls;
