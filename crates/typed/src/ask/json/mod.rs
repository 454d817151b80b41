//! Reads JSON as models write it.

mod find;
mod mend;
mod mended;

pub use find::{FoundObject, find_object};
pub use mended::{Cut, MendedJson};
