//! Restores a session from a snapshot: every thought is added again, with the checks that it passed
//! when it was new.

use std::collections::HashMap;
use std::slice;

use cogwork_text::Name;

use super::check::Prepared;
use super::id::{BranchId, ThoughtId};
use super::merged::Merged;
use super::place::Place;
use super::written::{ReadThought, Snapshot, VERSION, WrittenBranch};
use super::{Branch, BranchStatus, Session, ThoughtDraft, ThoughtKind};
use crate::{Strategies, Strategy};

/// Returns the session of a snapshot.
pub(super) fn restored(snapshot: Snapshot) -> Result<Session, String> {
    let Snapshot {
        version,
        strategy,
        policy,
        current,
        branches,
        thoughts,
        strategies,
    } = snapshot;

    if version != VERSION {
        return Err(format!("`version` is {version}; expected {VERSION}"));
    }

    let tables = Tables::new(&strategies);
    let session = Session::with_policy(tables.get(&strategy)?, policy);
    let mut replay = Replay {
        session,
        tables,
        forks: forks(&branches)?,
    };

    for thought in thoughts {
        replay.add(thought)?;
    }
    while replay.fork_next()? {}

    let mut session = replay.session;
    restore_branches(&mut session, &branches, current)?;
    session
        .switch(current)
        .map_err(|error| format!("`current`: {error}"))?;
    check_strategies(&session, &strategies)?;
    Ok(session)
}

/// The strategies of a snapshot.
struct Tables<'s> {
    all: &'s Strategies,
    by_name: HashMap<&'s str, &'s Strategy>,
}

impl<'s> Tables<'s> {
    fn new(all: &'s Strategies) -> Self {
        let by_name = all.iter().map(|strategy| (strategy.name(), strategy));
        Self {
            all,
            by_name: by_name.collect(),
        }
    }

    fn get(&self, name: &str) -> Result<Strategy, String> {
        if let Some(strategy) = self.by_name.get(name) {
            return Ok(Strategy::clone(strategy));
        }

        let strategy = self.all.get(name).cloned();
        strategy.map_err(|error| error.to_string())
    }
}

/// Returns all branches but the first, which must be `main`.
fn forks(branches: &[WrittenBranch]) -> Result<slice::Iter<'_, WrittenBranch>, String> {
    match branches.split_first() {
        Some((main, forks)) if main.name == "main" && main.from.is_none() => Ok(forks.iter()),
        _ => Err(
            "`branches` does not begin with `main`; expected it first, and without `from`"
                .to_owned(),
        ),
    }
}

/// A session that is being restored.
struct Replay<'s> {
    session: Session,
    tables: Tables<'s>,
    /// The branches that weren't forked yet.
    forks: slice::Iter<'s, WrittenBranch>,
}

impl Replay<'_> {
    /// Forks the next branch, and returns whether there was one.
    fn fork_next(&mut self) -> Result<bool, String> {
        let Some(branch) = self.forks.next() else {
            return Ok(false);
        };

        let name = Name(&branch.name);
        let Some(from) = branch.from else {
            return Err(format!("branch `{name}` has no `from`"));
        };

        let forked = self.session.fork(from, branch.name.clone());
        forked.map_err(|error| format!("branch `{name}`: {error}"))?;
        Ok(true)
    }

    fn add(&mut self, read: ReadThought) -> Result<(), String> {
        // Branches are forked once they are needed: by then, the thoughts they start from exist.
        let merged = read.merged.iter();
        let sources = merged.flat_map(|merged| merged.sources.iter().copied());
        let newest = sources.fold(read.branch, BranchId::max);
        while self.session.branch(newest).is_err() && self.fork_next()? {}

        let id = read.id;
        self.think(read)
            .map_err(|error| format!("thought {id}: {error}"))
    }

    fn think(&mut self, mut read: ReadThought) -> Result<(), String> {
        self.check_number(&read)?;
        let merged = read.merged.take();
        let into = read.branch;
        let mut prepared = self.prepare(read)?;

        if let Some(merged) = merged {
            self.check_merged(&merged, into)
                .map_err(|error| format!("`merged`: {error}"))?;
            prepared.merged = Some(merged);
        }

        let added = self.session.add(prepared);
        added.map(drop).map_err(|error| error.to_string())
    }

    /// Checks that a thought has the numbers it gets when it is added.
    fn check_number(&self, read: &ReadThought) -> Result<(), String> {
        let branch = self.session.branch(read.branch);
        let branch = branch.map_err(|error| error.to_string())?;
        let id = ThoughtId::at(self.session.thoughts.len());
        let number = branch.len() + 1;

        if (read.id, read.number) == (id, number) {
            return Ok(());
        }

        Err(format!(
            "it has the id {} and the number {}; expected {id} and {number}",
            read.id, read.number
        ))
    }

    /// Checks a thought like a new one, and that it gets the same stage.
    fn prepare(&self, read: ReadThought) -> Result<Prepared, String> {
        let stage = read.stage;
        let strategy = read.strategy;
        let moves = read.kind != ThoughtKind::Stay;
        let branch = read.branch;
        let draft = ThoughtDraft {
            stage: moves.then(|| stage.clone()),
            parameters: read.parameters,
            revises: read.revises,
            next_thought_needed: read.next_thought_needed,
            ..ThoughtDraft::here(read.thought)
        };

        let session = &self.session;
        let prepared = match read.kind {
            ThoughtKind::Move | ThoughtKind::Stay => session.prepare(branch, draft),
            ThoughtKind::Strategy => {
                let start = Place::start(self.tables.get(&strategy)?);
                session.prepare_entry(branch, draft, start, read.kind)
            }
            ThoughtKind::Part => {
                let start = session.part(branch, self.tables.get(&strategy)?);
                start.and_then(|start| session.prepare_entry(branch, draft, start, read.kind))
            }
        };

        let prepared = prepared.map_err(|error| error.to_string())?;
        let expected_stage = prepared.place.stage().name();
        let expected_strategy = prepared.place.strategy.name();
        if (expected_stage, expected_strategy) == (&*stage, &*strategy) {
            return Ok(prepared);
        }

        Err(format!(
            "it is in `{}` of `{}`; expected `{expected_stage}` of `{expected_strategy}`",
            Name(&stage),
            Name(&strategy)
        ))
    }

    /// Merges again, with the recorded decisions, since they may depend on scores that have
    /// changed.
    fn check_merged(&self, merged: &Merged, into: BranchId) -> Result<(), String> {
        let decided = |name: &str| {
            let mut conflicts = merged.conflicts.iter();
            conflicts.find(|conflict| conflict.parameter == name)
        };

        let again = self
            .session
            .merged(&merged.sources, into, merged.rule, |conflict| {
                decided(&conflict.parameter)?.taken
            })
            .map_err(|error| error.to_string())?;

        let is_decided = merged.conflicts.iter().all(|conflict| {
            let taken = conflict.taken;
            conflict.branches.len() == conflict.values.len()
                && taken.is_some_and(|taken| conflict.branches.contains(&taken))
        });

        if again == *merged && is_decided {
            Ok(())
        } else {
            Err("it is not what these branches merge to".to_owned())
        }
    }
}

/// Restores the data about branches that thoughts don't record.
fn restore_branches(
    session: &mut Session,
    branches: &[WrittenBranch],
    current: BranchId,
) -> Result<(), String> {
    let most = u32::try_from(session.policy.limits.thoughts).unwrap_or(u32::MAX);

    for (branch, written) in session.branches.iter_mut().zip(branches) {
        check_branch(branch, written, most)
            .and_then(|()| check_pruned(branch, written, current))
            .map_err(|problem| format!("branch `{}`: {problem}", Name(&written.name)))?;

        branch.total_thoughts = written.total_thoughts;
        branch.score = written.score;
        if written.pruned {
            branch.status = BranchStatus::Pruned;
        }
    }

    Ok(())
}

fn check_branch(branch: &Branch, written: &WrittenBranch, most: u32) -> Result<(), String> {
    let least = branch.len().max(1);
    let most = most.max(branch.len().saturating_add(1));
    let total = written.total_thoughts;
    if !(least..=most).contains(&total) {
        return Err(format!(
            "`total_thoughts` is {total}; expected {least} to {most}"
        ));
    }

    if let Some(score) = written.score
        && !(0.0..=10.0).contains(&score)
    {
        return Err(format!("`score` is {score}; expected 0 to 10"));
    }

    Ok(())
}

fn check_pruned(branch: &Branch, written: &WrittenBranch, current: BranchId) -> Result<(), String> {
    let may_be_pruned = branch.status == BranchStatus::Open && branch.id != current;
    if may_be_pruned || !written.pruned {
        return Ok(());
    }

    Err("`pruned` is true; expected that only for an open branch that isn't current".to_owned())
}

/// Checks that every strategy of the snapshot is used.
fn check_strategies(session: &Session, strategies: &Strategies) -> Result<(), String> {
    let is_unused = |strategy: &&Strategy| !session.strategies.contains(strategy);
    match strategies.iter().find(is_unused) {
        Some(unused) => Err(format!("no thought is in the strategy `{}`", unused.name())),
        None => Ok(()),
    }
}
