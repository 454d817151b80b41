//! Replies in JSON: their schema, and their description for the model.

mod describe;
mod schema;
mod shape;

pub(super) use describe::{keys, structure};
pub(super) use schema::{bounded, flat};
