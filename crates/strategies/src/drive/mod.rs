//! A strategy that runs by itself: the stages of its table as the nodes of a flow, each of which asks the
//! model, calls tools or draws its own conclusion.

mod ask;
mod budget;
mod calling;
mod driver;
mod error;
mod fields;
mod meter;
mod progress;
mod questions;
mod solved;
mod solver;
mod solving;
mod stage_node;
mod values;
mod work;

pub use ask::{Ask, AskProblem, Asked, StageReply};
pub use budget::{EndReason, SolveBudget};
pub use calling::{Called, PlannedCall};
pub use driver::{Answer, Driver, StageTurn};
pub use error::SolveError;
pub use solved::{SolveTrace, Solved};
pub use solver::Solver;
pub use solving::{Call, Solving};
pub(crate) use values::typed;
pub use work::{Done, Next, StageWork};
