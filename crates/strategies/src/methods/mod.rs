//! The methods of the built-in strategies.

mod chain_of_thought;
mod linear;
mod normal_form;
mod react;
mod rewoo;
mod scratchpad;
mod self_ask;
mod self_consistency;
mod shared;
mod step_back;

mod tree_of_thoughts;

pub use chain_of_thought::ChainOfThoughtMethod;
pub use linear::Linear;
pub use react::React;
pub use rewoo::Rewoo;
pub use scratchpad::Scratchpad;
pub use self_ask::SelfAsk;
pub use self_consistency::SelfConsistency;
pub use step_back::StepBack;
pub use tree_of_thoughts::{Evaluator, Search, TreeOfThoughts, Worth};

use crate::{Method, StrategyName};

/// Returns the method of the strategy with its default settings.
impl From<StrategyName> for Box<dyn Method> {
    fn from(name: StrategyName) -> Self {
        match name {
            StrategyName::Linear => Box::new(Linear::default()),
            StrategyName::ChainOfThought => Box::new(ChainOfThoughtMethod::default()),
            StrategyName::React => Box::new(React::default()),
            StrategyName::Rewoo => Box::new(Rewoo::default()),
            StrategyName::Scratchpad => Box::new(Scratchpad::default()),
            StrategyName::SelfAsk => Box::new(SelfAsk::default()),
            StrategyName::SelfConsistency => Box::new(SelfConsistency::default()),
            StrategyName::TreeOfThoughts => Box::new(TreeOfThoughts::default()),
            StrategyName::StepBack => Box::new(StepBack::default()),
        }
    }
}
