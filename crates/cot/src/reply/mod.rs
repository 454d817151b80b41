//! The replies of the loop: their types, and what is checked beyond their shape.

mod calls;
mod excerpt;
mod reader;
mod schema;
mod types;

pub(crate) use calls::read_calls;
pub(crate) use excerpt::with_excerpt;
pub use reader::Read;
pub(crate) use reader::{growing_thinking, read_reply, thinking_so_far};
pub(crate) use schema::{fits, reply_format};
pub use types::Reply;
