//! Reads JSON as models write it.

mod find;
mod mend;

pub use find::{FoundObject, find_object};
pub use mend::{Cut, MendedJson};
