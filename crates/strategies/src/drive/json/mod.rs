//! Replies in JSON: their schema, their description for the model, and the reading of malformed
//! ones.

mod describe;
mod find;
mod mend;
mod schema;
mod shape;

pub(super) use describe::{keys, structure};
pub(super) use find::{FoundObject, find};
pub(super) use schema::{bounded, flat};
