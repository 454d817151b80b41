//! Adding thoughts to a session, and removing the last one. Everything is checked before the session
//! changes.

use std::collections::BTreeMap;

use cogwork_text::{Name, NameList};
use serde_json::Value;

use super::{BranchId, BranchStatus, Session, SessionError, Thought, ThoughtDraft, ThoughtId};
use crate::Stage;
use crate::table::Parameter;

/// The parameter that names the revised thought, in stages that have it.
const REVISES: &str = "revises_thought";

impl Session {
    /// Adds a thought to the current branch.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`think_on`](Self::think_on).
    pub fn think(&mut self, draft: ThoughtDraft) -> Result<ThoughtId, SessionError> {
        self.think_on(self.current, draft)
    }

    /// Adds a thought to a branch, and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if
    ///
    /// - the branch doesn't exist or isn't open,
    /// - the strategy doesn't allow the move,
    /// - a parameter is missing, unknown or of the wrong type, or names a thought that doesn't
    ///   exist,
    /// - the revised thought isn't on the path of the branch, or
    /// - the session has [`MAX_THOUGHTS`](Self::MAX_THOUGHTS).
    pub fn think_on(
        &mut self,
        branch: BranchId,
        draft: ThoughtDraft,
    ) -> Result<ThoughtId, SessionError> {
        // Checked as a whole first, so that a refusal changes nothing.
        let thought = self.checked(branch, draft)?;
        self.add(thought)
    }

    /// Removes the thought that was added last, on any branch, and returns it.
    ///
    /// The branch continues from the thought before it, and branches that the thought merged are
    /// open again. If it was the first thought of the newest branch, that branch is removed as well.
    ///
    /// ```
    /// use cogwork_strategies::session::{Session, ThoughtDraft};
    /// use cogwork_strategies::StrategyName;
    ///
    /// let mut session = Session::new(StrategyName::React);
    /// session.think(ThoughtDraft::at("initial_reasoning", "I must look."))?;
    /// session.think(ThoughtDraft::at("action_planning", "Here.").with("action", "look"))?;
    ///
    /// let removed = session.undo()?;
    /// assert_eq!(removed.text, "Here.");
    /// assert_eq!(session.stage().name, "initial_reasoning");
    /// # Ok::<(), cogwork_strategies::session::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the session has no thoughts, if a branch was forked from the thought, or
    /// if the branch of the thought was pruned.
    pub fn undo(&mut self) -> Result<Thought, SessionError> {
        let none = "there is no thought to undo; expected at least one";
        let thought = self.thoughts.last();
        let thought = thought.ok_or_else(|| SessionError::Refused(none.to_owned()))?;
        let id = thought.id;
        // The fork would begin nowhere.
        if let Some(fork) = self.branches.iter().find(|branch| branch.from == Some(id)) {
            let fork = Name(&fork.name);
            return Err(SessionError::Refused(format!(
                "thought {id} cannot be undone, since the branch `{fork}` was forked from it; fork an earlier thought instead"
            )));
        }

        let thought = thought.clone();
        // Undoing it would open a branch that was given up on purpose.
        if self.branch(thought.branch)?.status == BranchStatus::Pruned {
            self.open(thought.branch)?;
        }

        let last = self.branches.len().saturating_sub(1);
        let branch = self.branch_mut(thought.branch)?;
        branch.thoughts.pop();
        // It was open, or the thought could not have been added.
        branch.status = BranchStatus::Open;
        let begun_by_it = branch
            .from
            .filter(|_| branch.thoughts.is_empty() && branch.id.0 == last);
        for source in thought.merged.iter().flat_map(|merged| &merged.sources) {
            self.branch_mut(*source)?.status = BranchStatus::Open;
        }
        self.thoughts.pop();

        if let Some(from) = begun_by_it {
            self.branches.pop();
            if self.current == thought.branch {
                let from = self.existing(from)?.branch;
                // Nothing can be added where a branch was given up meanwhile.
                let open = self
                    .branches
                    .iter()
                    .rev()
                    .filter(|branch| branch.is_in_use());
                let mut open = open.map(|branch| branch.id);
                self.current = match self.branch(from)?.is_in_use() {
                    true => from,
                    false => open.next().unwrap_or(from),
                };
            }
        }
        Ok(thought)
    }

    /// Returns the thought of a draft, which the strategy allows.
    pub(super) fn checked(
        &self,
        branch: BranchId,
        draft: ThoughtDraft,
    ) -> Result<Thought, SessionError> {
        let from = self.stage_on(branch)?;
        let is_first = self.branch(branch)?.tip().is_none();
        // The first thought may name the start stage, and still stays there.
        let named = draft.stage.as_deref();
        let named = named.filter(|stage| !(is_first && *stage == from.name));

        self.open(branch)?;
        let stage = match named {
            None => from,
            Some(name) => {
                let mut next = self.strategy().next(from);
                let found = next.find(|stage| stage.name == name);
                found.ok_or_else(|| self.no_way(from, name))?
            }
        };

        let mut parameters = draft.parameters;
        let revision = stage.parameters.get(REVISES);
        // A custom table may use this name for something else.
        let has_revision = revision.is_some_and(Parameter::is_thought);
        if let (Some(revised), true) = (draft.revises, has_revision) {
            let parameter = parameters.entry(REVISES.to_owned());
            parameter.or_insert_with(|| revised.0.into());
        }

        // A thought that stays in a stage continues the one before it, which had the parameters.
        let needs_all = named.is_some() || is_first;
        let problems = self.fit(stage, &mut parameters, needs_all);
        if !problems.is_empty() {
            let (stage, strategy) = (Name(&stage.name), Name(self.strategy().name()));
            let problems = problems.join("; ");
            return Err(SessionError::Refused(format!(
                "the stage `{stage}` of `{strategy}`: {problems}"
            )));
        }

        let revised = parameters.get(REVISES).filter(|_| has_revision);
        let revises = revised.and_then(ThoughtId::of_value).or(draft.revises);
        let branch = self.branch(branch)?;
        if let Some(thought) = revises {
            // A thought of another branch is not part of what this one builds on.
            if !self.path(branch.tip()).any(|one| one.id == thought) {
                let branch = Name(&branch.name);
                return Err(SessionError::Refused(format!(
                    "thought {thought} is not on the path of the branch `{branch}`; choose an earlier thought of that path"
                )));
            }
        }

        Ok(Thought {
            id: ThoughtId(self.thoughts.len() + 1),
            branch: branch.id,
            parent: branch.tip(),
            stage: stage.name.clone(),
            text: draft.text,
            revises,
            parameters,
            merged: None,
        })
    }

    fn no_way(&self, from: &Stage, to: &str) -> SessionError {
        let expected = NameList::or(&from.next);
        let (strategy, from, to) = (Name(self.strategy().name()), Name(&from.name), Name(to));
        SessionError::Refused(format!(
            "`{strategy}` does not lead from `{from}` to `{to}`; expected {expected}"
        ))
    }

    /// Adds a checked thought if there is room for it.
    pub(super) fn add(&mut self, thought: Thought) -> Result<ThoughtId, SessionError> {
        let most = Self::MAX_THOUGHTS;
        if self.thoughts.len() >= most {
            let limit = format!("{most} thoughts");
            return Err(SessionError::Full(limit));
        }

        let is_end = self.stage_of(&thought).is_final;
        let branch = self.branch_mut(thought.branch)?;
        branch.thoughts.push(thought.id);
        if is_end {
            branch.status = BranchStatus::Complete;
        }

        let id = thought.id;
        self.thoughts.push(thought);
        Ok(id)
    }

    /// Brings the parameters of a thought into the form of their schemas. Returns what is wrong. Unless
    /// the stage needs all, none is missing.
    fn fit(
        &self,
        stage: &Stage,
        given: &mut BTreeMap<String, Value>,
        needs_all: bool,
    ) -> Vec<String> {
        let known = &stage.parameters;
        let missing = known.iter().filter(|(name, parameter)| {
            needs_all && !parameter.is_optional && !given.contains_key(*name)
        });
        let missing = missing.filter_map(|(name, parameter)| parameter.fit(name, None).err());
        let mut problems: Vec<String> = missing.collect();

        for (name, value) in given {
            let fitted = match known.get(name) {
                Some(parameter) => self.fitted(name, parameter, value),
                None => Err(unknown(name, known)),
            };
            match fitted {
                Ok(fitted) => *value = fitted,
                Err(problem) => problems.push(problem),
            }
        }
        problems
    }

    fn fitted(&self, name: &str, parameter: &Parameter, value: &Value) -> Result<Value, String> {
        let fitted = parameter.fit(name, Some(value))?;
        if let Some(thought) = ThoughtId::of_value(&fitted).filter(|_| parameter.is_thought()) {
            let missing = |missing| format!("`{name}`: {missing}");
            self.existing(thought).map_err(missing)?;
        }
        Ok(fitted)
    }
}

/// Returns the problem of a parameter that isn't one of the known ones.
fn unknown(name: &str, known: &BTreeMap<String, Parameter>) -> String {
    let expected = match known.is_empty() {
        true => "none".to_owned(),
        false => NameList::and(known.keys()).to_string(),
    };
    format!(
        "there is no parameter `{}`; expected {expected}",
        Name(name)
    )
}
