use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use crate::refusal::{Refuse, Standing};
use crate::{Parameter, RefusedMove, Stage, Strategy};

/// Walks the stages of a strategy, without thoughts: where it stands, what may follow, where it has been.
///
/// A [`Session`](crate::Session) keeps thoughts and branches as well, and holds its moves against the
/// table in the same way.
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
    moves: u64,
}

/// Stages that the history keeps; a strategy with a cycle can be walked for ever.
const HISTORY: usize = 10_000;

impl StageManager {
    /// Stands in the start stage.
    pub fn new(strategy: impl Into<Strategy>) -> Self {
        let strategy = strategy.into();
        let current = strategy.start().index;
        Self {
            strategy,
            current,
            history: VecDeque::new(),
            moves: 0,
        }
    }

    /// The strategy.
    pub fn strategy(&self) -> &Strategy {
        &self.strategy
    }

    /// The stage it stands in.
    pub fn current(&self) -> &Stage {
        self.strategy.at(self.current)
    }

    /// The stages that may follow; none in a final stage.
    pub fn allowed(&self) -> impl Iterator<Item = &Stage> {
        self.strategy.next(self.current())
    }

    /// What a stage that may follow needs, by name; those that are not required too.
    ///
    /// # Errors
    ///
    /// The refusal that a move there would meet.
    pub fn needs(&self, next: &str) -> Result<&BTreeMap<String, Parameter>, Box<RefusedMove>> {
        Ok(self.standing().next(next)?.parameters())
    }

    /// Whether it stands in a final stage.
    pub fn is_complete(&self) -> bool {
        self.current().is_final()
    }

    /// Moves to another stage, and answers it.
    ///
    /// # Errors
    ///
    /// A [`RefusedMove`] when the stage may not follow, or its parameters are not right: one that is
    /// required is missing, one is of another type, or the stage knows none of that name. Nothing has
    /// changed then.
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
        self.moves = self.moves.saturating_add(1);
        self.current = index;

        Ok(self.current())
    }

    /// The names of the stages it has left, in order; the last 10,000 of them.
    pub fn history(&self) -> impl Iterator<Item = &str> {
        self.history
            .iter()
            .map(|index| self.strategy.at(*index).name())
    }

    /// How many moves it has made.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    fn standing(&self) -> Standing<'_> {
        Standing {
            strategy: &self.strategy,
            from: self.current(),
        }
    }
}
