//! Solving problems: a method asks the model and calls tools through its context, and a solver makes
//! these calls within the limits of the run.

mod ask;
mod asking;
mod conclusion;
mod context;
mod error;
mod form;
mod method;
mod question;
mod recorded_calls;
mod solver;
mod solving;
mod solving_event;
mod step;
mod tool_calls;
mod walk;

pub use ask::Ask;
pub(crate) use ask::{ANSWER, check_answer};
pub use context::Solve;
pub use error::SolveError;
pub use form::StageReply;
pub(crate) use form::{NEXT, is_none, json_or_text};
pub use method::{Method, Stop};
pub use recorded_calls::{AskProblem, Asked, Call, Called};
pub use solver::Solver;
pub use solving::{Answer, EndReason, Solving};
pub use solving_event::{SolvingEvent, TableStage};
pub use tool_calls::PlannedCall;
