use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::{Strategies, Strategy, UnknownStrategy};

/// The strategies that are part of the crate.
///
/// ```
/// use cogwork_strategies::{Strategy, StrategyName};
///
/// assert_eq!("base_sequential".parse(), Ok(StrategyName::Linear)); // the document uses both names
/// assert_eq!(StrategyName::SelfAsk.strategy().start().name(), "problem_reception");
///
/// let error = "tree".parse::<Strategy>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`tree` is not a strategy; expected `linear`, `base_sequential`, `chain_of_thought`, `react`, \
///      `rewoo`, `scratchpad`, `self_ask`, `self_consistency`, `step_back` or `tree_of_thoughts`",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StrategyName {
    /// One thought after another, with revision, branches, hypothesis and verification. Also called
    /// `base_sequential`.
    Linear,
    /// Steps, worked through in order (Wei et al. 2022).
    ChainOfThought,
    /// Reason, act, observe (Yao et al. 2022).
    React,
    /// Plan all calls, gather the evidence, solve (Xu et al. 2023).
    Rewoo,
    /// Variables on a scratchpad (Nye et al. 2021).
    Scratchpad,
    /// Smaller questions first (Press et al. 2022).
    SelfAsk,
    /// Several paths and a majority (Wang et al. 2022).
    SelfConsistency,
    /// The principle first (Zheng et al. 2023).
    StepBack,
    /// Approaches as branches, evaluated and selected (Yao et al. 2023).
    TreeOfThoughts,
}

impl StrategyName {
    /// All of them, in the order of the document they come from.
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

    /// The name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::ChainOfThought => "chain_of_thought",
            Self::React => "react",
            Self::Rewoo => "rewoo",
            Self::Scratchpad => "scratchpad",
            Self::SelfAsk => "self_ask",
            Self::SelfConsistency => "self_consistency",
            Self::StepBack => "step_back",
            Self::TreeOfThoughts => "tree_of_thoughts",
        }
    }

    /// Its table. Read once and shared.
    pub fn strategy(self) -> Strategy {
        built_in_strategy(self)
    }
}

#[expect(
    clippy::expect_used,
    reason = "the tables are part of the crate, and a test reads each"
)]
fn built_in_strategy(name: StrategyName) -> Strategy {
    built_in()
        .get(name.as_str())
        .expect("every name has a table")
        .clone()
}

/// The crate's own tables.
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
        let strategy = built_in().get(text)?;
        let named = Self::ALL
            .into_iter()
            .find(|name| name.as_str() == strategy.name());
        named.ok_or_else(|| built_in().unknown(text))
    }
}

impl From<StrategyName> for Strategy {
    fn from(name: StrategyName) -> Self {
        name.strategy()
    }
}

/// One of the crate's own, by its name or by another name for it.
impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, UnknownStrategy> {
        built_in().get(text).cloned()
    }
}
