use std::collections::BTreeMap;

use serde_json::Value;

use crate::refusal::{Refuse, Standing};
use crate::{RefusedMove, Stage, Strategy};

/// A position in the stages of a strategy, without thoughts.
///
/// A [`Session`](crate::Session), which also has thoughts and branches, applies the same rules to
/// its moves.
///
/// ```
/// use std::collections::BTreeMap;
/// use cogwork_strategies::{StageManager, StrategyName};
///
/// let mut manager = StageManager::new(StrategyName::StepBack);
/// manager.move_to("abstraction", &BTreeMap::new())?;
///
/// let refusal = manager.move_to("principle_identification", &BTreeMap::new()).unwrap_err();
/// assert_eq!(refusal.missing, ["principle"]);
/// assert_eq!(manager.current().name(), "abstraction"); // a refusal changes nothing
///
/// let principle = BTreeMap::from([("principle".to_owned(), "energy is conserved".into())]);
/// let stage = manager.move_to("principle_identification", &principle)?;
/// assert_eq!(stage.prompt(), "Name the principle that answers the general question.");
/// # Ok::<(), Box<cogwork_strategies::RefusedMove>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StageManager {
    strategy: Strategy,
    current: usize,
}

impl StageManager {
    /// Creates a manager in the start stage.
    pub fn new(strategy: impl Into<Strategy>) -> Self {
        let strategy = strategy.into();
        let current = strategy.start().index;
        Self { strategy, current }
    }

    /// Returns the current stage.
    pub fn current(&self) -> &Stage {
        self.strategy.at(self.current)
    }

    /// Returns the stages that may follow. There are none after a final stage.
    pub fn allowed(&self) -> impl Iterator<Item = &Stage> {
        self.strategy.next(self.current())
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
        let standing = Standing {
            strategy: &self.strategy,
            from: self.current(),
        };
        let stage = standing.next(next)?;
        standing.check(stage, parameters)?;

        self.current = stage.index;
        Ok(self.current())
    }
}
