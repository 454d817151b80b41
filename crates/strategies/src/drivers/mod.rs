//! The drivers of the built-in strategies.

mod answering;
mod chain_of_thought;
mod linear;
mod normal_form;
mod react;
mod rewoo;
mod scratchpad;
mod self_ask;
mod self_consistency;
mod stage_names;
mod step_back;
mod tool_list;
mod tree_of_thoughts;

pub use chain_of_thought::ChainOfThoughtDriver;
pub use linear::Linear;
pub use react::React;
pub use rewoo::Rewoo;
pub use scratchpad::Scratchpad;
pub use self_ask::SelfAsk;
pub use self_consistency::SelfConsistency;
pub use step_back::StepBack;
pub use tree_of_thoughts::{Search, TreeOfThoughts, Worth};

use cogwork_plan::Plan;
use cogwork_tools::Tools;

use crate::{
    Answer, Done, Driver, Next, SolveError, Solving, Stage, StageTurn, StageWork, Strategy,
    StrategyName, Thought,
};

impl StrategyName {
    /// Calls `with` with the driver of the strategy.
    fn drive<T>(self, with: impl FnOnce(&dyn Driver) -> T) -> T {
        match self {
            Self::Linear => with(&Linear::default()),
            Self::ChainOfThought => with(&ChainOfThoughtDriver::default()),
            Self::React => with(&React::default()),
            Self::Rewoo => with(&Rewoo::default()),
            Self::Scratchpad => with(&Scratchpad::default()),
            Self::SelfAsk => with(&SelfAsk::default()),
            Self::SelfConsistency => with(&SelfConsistency::default()),
            Self::TreeOfThoughts => with(&TreeOfThoughts::default()),
            Self::StepBack => with(&StepBack::default()),
        }
    }
}

/// Runs the strategy with the default settings of its driver.
impl Driver for StrategyName {
    fn strategy(&self) -> Strategy {
        StrategyName::strategy(*self)
    }

    fn instructions(&self, tools: &Tools, native_tools: bool) -> String {
        self.drive(|driver| driver.instructions(tools, native_tools))
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        self.drive(|driver| driver.work(turn))
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        self.drive(|driver| driver.take(solving, stage, done))
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        self.drive(|driver| driver.answer(solving))
    }

    fn progress(&self, thought: &Thought) -> Option<String> {
        self.drive(|driver| driver.progress(thought))
    }

    fn plan(&self, solving: &Solving) -> Option<Plan> {
        self.drive(|driver| driver.plan(solving))
    }
}
