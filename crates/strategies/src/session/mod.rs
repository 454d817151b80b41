//! Sessions: thoughts on branches, each in a stage of a strategy.

mod branch;
mod branches;
mod check;
mod draft;
mod error;
mod id;
mod merge;
mod merged;
mod place;
mod policy;
mod read_back;
mod replay;
mod snapshot;
mod state;
mod think;
mod thought;
mod undo;
mod written;

pub use branch::{Branch, BranchStatus};
pub use draft::ThoughtDraft;
pub use error::{SessionError, SessionLimit};
pub use id::{BranchId, ThoughtId};
pub use merged::{Conflict, ConflictRule, Merged};
pub use policy::{EndRule, SessionLimits, SessionPolicy};
pub use snapshot::SnapshotError;
pub use state::{Completion, Session};
pub(crate) use thought::REVISES;
pub use thought::{Thought, ThoughtKind};
