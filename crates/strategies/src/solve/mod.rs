//! Solving problems: a method asks the model and calls tools through its context, and a solver makes
//! these calls within the limits of the run.

mod answer;
mod ask;
mod call;
mod calling;
mod changes;
mod conclusion;
mod context;
mod end_reason;
mod error;
mod form;
mod method;
mod node;
mod questions;
mod reply;
mod shared;
mod solved;
mod solver;
mod solving;
mod solving_event;
mod walk;

pub use answer::Answer;
pub use ask::Ask;
pub(crate) use ask::{ANSWER, check_answer, check_text};
pub use call::{AskProblem, Asked, Call, Called};
pub use calling::PlannedCall;
pub use context::Solve;
pub use end_reason::EndReason;
pub use error::SolveError;
pub(crate) use form::{is_none, json_or_text, typed};
pub use method::{Method, Stop};
pub use reply::StageReply;
pub use solved::Solved;
pub use solver::Solver;
pub use solving::Solving;
pub use solving_event::{SolvingEvent, TableStage};
