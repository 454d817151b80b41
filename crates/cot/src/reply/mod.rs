//! Turns the raw text of a model into a typed reply: finds the block, guards against hostile YAML,
//! parses, validates, and reports every repair.

pub(crate) mod bounds;
mod calls;
mod candidates;
mod keys;
mod parts;
mod problem;
mod reader;
mod repair;
mod schema;
mod strict;
mod whole_json;

pub(crate) use calls::{read_calls, without_empty_calls};
pub use parts::Reply;
pub use problem::{Partial, ReplyProblem, ReplyProblemKind};
pub use reader::{Read, Reading, ReplyReader};
pub use schema::ReplyBounds;
pub(crate) use schema::{FLAT_LEVELS, flat_reply_with_calls, reply_or_calls};
