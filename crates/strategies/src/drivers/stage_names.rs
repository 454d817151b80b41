//! The stages of the built-in strategies as enums. A driver that misspells a stage
//! doesn't compile, and neither does one that forgets a stage in a `match`.

use cogwork_text::{Name, NameList};

use crate::{SolveError, StrategyName, Thought};

/// An enum with a variant for each stage of a strategy's table.
///
/// Implemented by [`stage_names!`].
pub(super) trait StageName: Copy + Eq + 'static {
    /// The strategy that has these stages.
    const STRATEGY: StrategyName;

    /// All stages, in the order of the table.
    const ALL: &'static [Self];

    /// Returns the name of the stage in the table.
    fn name(self) -> &'static str;

    /// Returns the stage with this name.
    ///
    /// # Errors
    ///
    /// Returns an error if it isn't one of them, such as a stage of a different table.
    fn of(stage: &str) -> Result<Self, SolveError> {
        let known = Self::ALL.iter().find(|known| known.name() == stage);

        known.copied().ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|known| known.name()).collect();
            SolveError::driver(format!(
                "`{}` is not a stage of `{}`; expected {}",
                Name(stage),
                Self::STRATEGY,
                NameList::or(&names),
            ))
        })
    }

    /// Returns whether `thought` belongs to this stage.
    fn is_stage_of(self, thought: &Thought) -> bool {
        thought.stage() == self.name()
    }
}

/// Generates the enum for the stages of a strategy, and its implementation of [`StageName`].
///
/// ```text
/// stage_names! {
///     /// The stages of `react`.
///     enum ReactStage for React {
///         ProblemReception = "problem_reception",
///         FinalResponse = "final_response",
///     }
/// }
/// ```
macro_rules! stage_names {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $stages:ident for $strategy:ident {
            $($stage:ident = $name:literal,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $stages {
            $($stage,)+
        }

        impl $crate::drivers::stage_names::StageName for $stages {
            const STRATEGY: $crate::StrategyName = $crate::StrategyName::$strategy;

            const ALL: &'static [Self] = &[$(Self::$stage,)+];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$stage => $name,)+
                }
            }
        }
    };
}

pub(super) use stage_names;
