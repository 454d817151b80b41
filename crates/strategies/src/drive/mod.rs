//! Solving problems: each stage of a strategy becomes a node of a flow, which asks the model, calls
//! tools or adds a thought without a call.

mod answer;
mod ask;
mod asked;
mod calling;
mod changes;
mod conclusion;
mod driver;
mod edges;
mod end_reason;
mod error;
mod form;
mod options;
mod progress;
mod questions;
mod reply;
mod shared;
mod solved;
mod solver;
mod solving;
mod solving_event;
mod stage_node;
mod turn;
mod work;

pub use answer::Answer;
pub use ask::Ask;
pub use asked::{AskProblem, Asked};
pub use calling::{Called, PlannedCall};
pub use driver::Driver;
pub use end_reason::EndReason;
pub use error::SolveError;
pub(crate) use form::{is_none, json_or_text, typed};
pub use options::SolveOptions;
pub use reply::StageReply;
pub use solved::{SolveTrace, Solved};
pub use solver::Solver;
pub use solving::{Call, Solving};
pub use solving_event::{SolvingEvent, TableStage};
pub use turn::StageTurn;

pub use work::{Done, Next, StageWork};
