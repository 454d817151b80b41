//! The replies of the loop: their types, and what is checked beyond their shape.

mod calls;
mod problem;
mod reader;
mod schema;
mod types;

pub(crate) use calls::read_calls;
pub use problem::ReplyProblem;
pub(crate) use reader::growing_thinking;
pub use reader::{Read, ReplyReader};
pub(crate) use schema::{fits, reply_format};
pub use types::{Partial, Reply};
