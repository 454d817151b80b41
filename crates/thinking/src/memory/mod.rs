//! Memory for clients: texts are stored, and those that fit a request are found and added to it.
//!
//! | for | see |
//! |---|---|
//! | a mode that recalls | [`Recall`], [`RecallSettings`] |
//! | memories of a process | [`InMemory`], [`Blackboard`] |
//! | custom memories | [`Memory`], [`Found`], [`MemoryError`], [`check_size`] |
//! | searching by words | [`words`], [`weight`] |

mod store;
pub use store::{Found, MAX_BYTES, MAX_ITEMS, Memory, check_size};

mod error;
pub use error::MemoryError;

mod in_memory;
pub use in_memory::{Blackboard, InMemory, weight, words};

mod recall;
pub(crate) use recall::recalled;
pub use recall::{Recall, RecallSettings};
