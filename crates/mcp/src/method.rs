//! The ways to solve a problem: the loop of thoughts with a plan, and the strategies.

use std::fmt;

use cogwork_strategies::StrategyName;
use serde::{Deserialize, Serialize};

/// How a problem is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) enum Method {
    /// The chain of thought with a plan that is checked in each turn.
    Loop,
    Strategy(StrategyName),
    /// The flow that the server was started with, of the tool `solve`.
    #[cfg(feature = "agents")]
    Flow,
}

impl Method {
    /// The name of the loop. `chain_of_thought` is the strategy of this name.
    pub(crate) const LOOP: &str = "loop";

    /// Returns all methods that every server has.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let strategies = StrategyName::ALL.map(Self::Strategy);
        std::iter::once(Self::Loop).chain(strategies)
    }

    /// Returns the methods whose questions a host can answer. Several answers from one context are
    /// not independent, so a vote over them would say nothing.
    pub(crate) fn guided() -> impl Iterator<Item = Self> {
        let votes = Self::Strategy(StrategyName::SelfConsistency);
        Self::all().filter(move |method| *method != votes)
    }

    /// Returns the method of this name, which may be another name of a strategy.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            Self::LOOP => Some(Self::Loop),
            name => name.parse().ok().map(Self::Strategy),
        }
    }

    /// Returns whether the method needs at least one tool.
    pub(crate) fn needs_tools(self) -> bool {
        self == Self::Strategy(StrategyName::Rewoo)
    }

    /// Returns whether the method uses tools if there are some.
    pub(crate) fn takes_tools(self) -> bool {
        let is_react = self == Self::Strategy(StrategyName::React);
        self == Self::Loop || is_react || self.needs_tools()
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Loop => Self::LOOP,
            Self::Strategy(name) => name.as_str(),
            #[cfg(feature = "agents")]
            Self::Flow => "flow",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Method> for String {
    fn from(method: Method) -> Self {
        method.as_str().to_owned()
    }
}

impl TryFrom<String> for Method {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::named(&name).ok_or("the strategy isn't known")
    }
}
