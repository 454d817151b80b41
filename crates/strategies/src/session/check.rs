//! The check of a session that was read.

use std::collections::HashSet;

use cogwork_text::Name;

use super::{Branch, Session, Thought};

impl Session {
    /// Checks that everything that the session names exists, and that its numbers are in order.
    ///
    /// The moves aren't checked again.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.strategies.find(&self.strategy).is_none() {
            let name = Name(&self.strategy);
            return Err(format!("there is no strategy `{name}` in `strategies`"));
        }

        let own: usize = self.branches.iter().map(|branch| branch.own.len()).sum();
        let thoughts = self.thoughts.len();
        if own != thoughts {
            return Err(format!(
                "the branches have {own} thoughts; expected {thoughts}"
            ));
        }

        let mut names = HashSet::new();
        for (index, branch) in self.branches.iter().enumerate() {
            let is_new = names.insert(&branch.name);
            self.check_branch(index, branch, is_new)
                .map_err(|problem| format!("branch `{}`: {problem}", Name(&branch.name)))?;
        }
        for (index, thought) in self.thoughts.iter().enumerate() {
            self.check_thought(index, thought)
                .map_err(|problem| format!("thought {}: {problem}", thought.id))?;
        }

        self.check_in_use(self.current)
            .map_err(|error| format!("`current`: {error}"))
    }

    fn check_branch(&self, index: usize, branch: &Branch, is_new: bool) -> Result<(), String> {
        if !is_new {
            return Err("another branch has this name".to_owned());
        }
        if branch.id.index() != Some(index) {
            return Err(format!("it has the id {}; expected {index}", branch.id));
        }

        match branch.from {
            None if index > 0 => Err("it has no `from`; expected a thought".to_owned()),
            Some(_) if index == 0 => Err("it has `from`; expected none".to_owned()),
            None => Ok(()),
            Some(from) => self.existing(from).map(drop).map_err(|e| e.to_string()),
        }
    }

    fn check_thought(&self, index: usize, thought: &Thought) -> Result<(), String> {
        let branch = self.branch(thought.branch).map_err(|e| e.to_string())?;
        let number = usize::try_from(thought.number).unwrap_or(0);
        let before = match number {
            0 | 1 => branch.from,
            more => branch.own.get(more.saturating_sub(2)).copied(),
        };

        let is_own = branch.own.get(number.saturating_sub(1)) == Some(&thought.id);
        let is_after = [before, thought.revises]
            .iter()
            .flatten()
            .all(|before| *before < thought.id);
        if thought.id.index() != Some(index) || !is_own || !is_after || thought.parent != before {
            return Err("its numbers are not in order".to_owned());
        }

        let mut positions = thought.position.all();
        let is_unknown = |strategy: &str, stage: &str| {
            let strategy = self.strategies.find(strategy);
            strategy.is_none_or(|strategy| strategy.stage(stage).is_none())
        };
        match positions.find(|at| is_unknown(&at.strategy, &at.stage)) {
            None => Ok(()),
            Some(at) => {
                let [strategy, stage] = [&at.strategy, &at.stage].map(|name| Name(name));
                Err(format!("`{strategy}` has no stage `{stage}`"))
            }
        }
    }
}
