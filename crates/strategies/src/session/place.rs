use std::sync::Arc;

use crate::refusal::Standing;
use crate::{RefusedMove, Stage, Strategy};

/// The position of a thought: a stage of a strategy, which may be nested in another strategy.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) strategy: Strategy,
    pub(super) stage: usize,
    /// Where the outer strategy continues after this one has ended.
    pub(super) outer: Option<Arc<Self>>,
}

impl Place {
    pub(super) fn start(strategy: Strategy) -> Self {
        Self {
            stage: strategy.start().index,
            strategy,
            outer: None,
        }
    }

    pub(super) fn stage(&self) -> &Stage {
        self.strategy.at(self.stage)
    }

    /// Returns whether this strategy and all outer ones have ended.
    pub(super) fn is_end(&self) -> bool {
        self.stage().is_final() && self.outer.is_none()
    }

    /// Returns the place whose strategy determines what may follow: the innermost one that hasn't
    /// ended.
    pub(super) fn leading(&self) -> &Self {
        let mut place = self;
        while let (true, Some(outer)) = (place.stage().is_final(), &place.outer) {
            place = outer;
        }

        place
    }

    pub(super) fn outermost(&self) -> &Self {
        let mut place = self;
        while let Some(outer) = &place.outer {
            place = outer;
        }

        place
    }

    pub(super) fn standing(&self) -> Standing<'_> {
        Standing {
            strategy: &self.strategy,
            from: self.stage(),
        }
    }

    pub(super) fn next(&self, stage: &str) -> Result<Self, Box<RefusedMove>> {
        let leading = self.leading();
        let stage = leading.standing().next(stage)?.index;
        Ok(Self {
            stage,
            ..leading.clone()
        })
    }

    /// Returns the number of outer strategies.
    pub(super) fn depth(&self) -> usize {
        std::iter::successors(self.outer.as_ref(), |place| place.outer.as_ref()).count()
    }
}
