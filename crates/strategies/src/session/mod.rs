//! Sessions: thoughts on branches, each in a stage of a strategy.

mod branch;
mod branches;
mod check;
mod draft;
mod error;
mod id;
mod merge;
mod policy;
mod state;
mod think;
mod thought;
mod undo;

pub use branch::{Branch, BranchStatus};
pub use draft::ThoughtDraft;
pub use error::{SessionError, SessionLimit};
pub use id::{BranchId, ThoughtId};
pub use merge::{Conflict, Merged};
pub use policy::SessionPolicy;
pub use state::Session;
pub(crate) use thought::REVISES;
pub use thought::Thought;
