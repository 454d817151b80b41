use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::{Strategies, Strategy, UnknownStrategy};

/// The names of the built-in strategies.
///
/// ```
/// use cogwork_strategies::StrategyName;
///
/// assert_eq!("react".parse(), Ok(StrategyName::React));
/// assert_eq!(StrategyName::SelfAsk.strategy().start().name, "problem_reception");
///
/// let error = "tree".parse::<StrategyName>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`tree` is not a strategy; expected `linear`, `chain_of_thought`, `react`, `rewoo`, \
///      `scratchpad`, `self_ask`, `self_consistency`, `step_back` or `tree_of_thoughts`",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StrategyName {
    /// One thought after another, with revisions, branches, a hypothesis and its verification.
    Linear,
    /// Steps that are worked through in order (Wei et al. 2022).
    ChainOfThought,
    /// Reasoning, action and observation in turn (Yao et al. 2022).
    React,
    /// A plan of all tool calls, then the evidence, then the solution (Xu et al. 2023).
    Rewoo,
    /// Calculation with variables on a scratchpad (Nye et al. 2021).
    Scratchpad,
    /// Smaller questions before the problem itself (Press et al. 2022).
    SelfAsk,
    /// A majority vote over several paths (Wang et al. 2022).
    SelfConsistency,
    /// The principle behind the problem before the problem itself (Zheng et al. 2023).
    StepBack,
    /// Approaches as branches, which are scored and selected (Yao et al. 2023).
    TreeOfThoughts,
}

impl StrategyName {
    /// All names, in the order of the built-in tables.
    pub const ALL: [Self; 9] = [
        Self::Linear,
        Self::ChainOfThought,
        Self::React,
        Self::Rewoo,
        Self::Scratchpad,
        Self::SelfAsk,
        Self::SelfConsistency,
        Self::StepBack,
        Self::TreeOfThoughts,
    ];

    /// Returns the name in tables.
    pub fn as_str(self) -> &'static str {
        self.table().name()
    }

    /// Returns the strategy. Its table is parsed once and shared.
    pub fn strategy(self) -> Strategy {
        self.table().clone()
    }

    #[expect(
        clippy::expect_used,
        reason = "the tables are part of the crate, and a test reads each"
    )]
    fn table(self) -> &'static Strategy {
        // A test compares the names with the order of the tables.
        let table = built_in().iter().nth(self as usize);
        table.expect("the tables are in the order of the names")
    }
}

/// Returns the built-in tables.
#[expect(
    clippy::expect_used,
    reason = "the tables are part of the crate, and a test reads each"
)]
fn built_in() -> &'static Strategies {
    static BUILT_IN: LazyLock<Strategies> = LazyLock::new(|| {
        Strategies::from_yaml(include_str!("../data/strategies.yaml"))
            .expect("the crate's own tables are whole")
    });

    &BUILT_IN
}

impl Strategies {
    /// Returns the nine built-in strategies.
    pub fn built_in() -> Self {
        built_in().clone()
    }
}

impl fmt::Display for StrategyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for StrategyName {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, UnknownStrategy> {
        let mut names = Self::ALL.into_iter();
        let named = names.find(|name| name.as_str() == text);
        named.ok_or_else(|| built_in().unknown(text))
    }
}

impl From<StrategyName> for Strategy {
    fn from(name: StrategyName) -> Self {
        name.strategy()
    }
}
