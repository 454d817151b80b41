//! Sessions: thoughts on branches, each in a stage of a strategy.

mod branch;
mod branches;
mod error;
mod merge;
mod state;
mod think;
mod thought;

pub use branch::{Branch, BranchId, BranchStatus};
pub use error::SessionError;
pub use merge::Merged;
pub use state::Session;
pub use thought::{Thought, ThoughtDraft, ThoughtId};
