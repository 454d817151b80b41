use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use crate::refusal::{Refuse, Standing};
use crate::{Parameter, RefusedMove, Stage, Strategy};

/// A position in the stages of a strategy, without thoughts.
///
/// It keeps the current stage and the history. A [`Session`](crate::Session), which also has
/// thoughts and branches, applies the same rules to its moves.
///
/// ```
/// use std::collections::BTreeMap;
/// use cogwork_strategies::{StageManager, StrategyName};
///
/// let mut manager = StageManager::new(StrategyName::StepBack);
/// manager.move_to("abstraction", &BTreeMap::new())?;
///
/// assert!(manager.needs("principle_identification")?.contains_key("principle"));
/// let refusal = manager.move_to("principle_identification", &BTreeMap::new()).unwrap_err();
/// assert_eq!(refusal.missing, ["principle"]);
/// assert_eq!(manager.current().name(), "abstraction"); // a refusal changes nothing
///
/// let principle = BTreeMap::from([("principle".to_owned(), "energy is conserved".into())]);
/// let stage = manager.move_to("principle_identification", &principle)?;
/// assert_eq!(stage.prompt(), "Name the principle that answers the general question.");
/// assert_eq!(manager.history().collect::<Vec<_>>(), ["problem_reception", "abstraction"]);
/// # Ok::<(), Box<cogwork_strategies::RefusedMove>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StageManager {
    strategy: Strategy,
    current: usize,
    history: VecDeque<usize>,
}

/// The maximum length of the history, since a strategy with a cycle has no last move.
const HISTORY: usize = 10_000;

impl StageManager {
    /// Creates a manager in the start stage.
    pub fn new(strategy: impl Into<Strategy>) -> Self {
        let strategy = strategy.into();
        let current = strategy.start().index;
        Self {
            strategy,
            current,
            history: VecDeque::new(),
        }
    }

    /// Returns the strategy.
    pub fn strategy(&self) -> &Strategy {
        &self.strategy
    }

    /// Returns the current stage.
    pub fn current(&self) -> &Stage {
        self.strategy.at(self.current)
    }

    /// Returns the stages that may follow. There are none after a final stage.
    pub fn allowed(&self) -> impl Iterator<Item = &Stage> {
        self.strategy.next(self.current())
    }

    /// Returns the parameters of a stage that may follow, by name. Optional parameters are
    /// included.
    ///
    /// # Errors
    ///
    /// Returns a [`RefusedMove`] if the stage may not follow.
    pub fn needs(&self, next: &str) -> Result<&BTreeMap<String, Parameter>, Box<RefusedMove>> {
        Ok(self.standing().next(next)?.parameters())
    }

    /// Returns whether the current stage is final.
    pub fn is_complete(&self) -> bool {
        self.current().is_final()
    }

    /// Moves to the stage `next`, and returns it.
    ///
    /// # Errors
    ///
    /// Returns a [`RefusedMove`] if the stage may not follow, or if a parameter is missing, unknown
    /// or of the wrong type. In that case, the current stage doesn't change.
    pub fn move_to(
        &mut self,
        next: &str,
        parameters: &BTreeMap<String, Value>,
    ) -> Result<&Stage, Box<RefusedMove>> {
        let standing = self.standing();
        let stage = standing.next(next)?;
        standing.check(stage, parameters)?;
        let index = stage.index;

        if self.history.len() == HISTORY {
            self.history.pop_front();
        }

        self.history.push_back(self.current);
        self.current = index;

        Ok(self.current())
    }

    /// Returns the names of the previous stages, oldest first. Only the last 10,000 are kept.
    pub fn history(&self) -> impl Iterator<Item = &str> {
        self.history
            .iter()
            .map(|index| self.strategy.at(*index).name())
    }

    fn standing(&self) -> Standing<'_> {
        Standing {
            strategy: &self.strategy,
            from: self.current(),
        }
    }
}
