//! A session as data, and back. What is read is played through again, thought by thought, with the same
//! checks that it met when it was thought: a snapshot is a session that could have been, or is refused.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::marker::PhantomData;

use cogwork_read::charge;
use cogwork_text::{Name, OneLine};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::merge::Merged;
use super::place::Place;
use super::think::Prepared;
use super::{
    Branch, BranchId, BranchStatus, Session, SessionError, SessionLimits, SessionPolicy, Thought,
    ThoughtDraft, ThoughtId, ThoughtKind, WhenFull,
};
use crate::{Strategies, Strategy};

/// The form that is written, and the only one that is read.
const VERSION: u32 = 1;

/// The longest snapshot that is read, in bytes: a full session, with every character of its texts escaped.
const MAX_BYTES: usize = 1024 * 1024 * 1024;

impl Session {
    /// Reads a snapshot in JSON, of at most 1 GiB.
    ///
    /// # Errors
    ///
    /// When the text is longer, is no JSON, has another version, or is no session: a move that the strategy
    /// does not allow, a branch from a thought that is not there, a number that does not fit.
    pub fn from_json(text: &str) -> Result<Self, SnapshotError> {
        if text.len() > MAX_BYTES {
            let message = format!("{} bytes; at most {MAX_BYTES} are read", text.len());
            return Err(SnapshotError {
                message,
                place: None,
            });
        }

        charge(text.len());
        serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let cut = message.rfind(" at line ").unwrap_or(message.len());
            let message = message.get(..cut).unwrap_or_default().to_owned();
            let place = Some((error.line(), error.column())).filter(|(line, _)| *line > 0);

            SnapshotError { message, place }
        })
    }
}

/// Characters shown of what is wrong with a snapshot.
const MESSAGE: usize = 400;

/// Why a snapshot could not be read. One line, fit for a terminal whatever the snapshot holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotError {
    message: String,
    place: Option<(usize, usize)>,
}

impl SnapshotError {
    /// The line in the text, from 1, where there is one.
    pub fn line(&self) -> Option<usize> {
        self.place.map(|(line, _)| line)
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("snapshot: ")?;
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }

        OneLine::new(&self.message).with_max_chars(MESSAGE).fmt(f)
    }
}

impl std::error::Error for SnapshotError {}

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let strategies: Strategies = self.strategies.iter().cloned().collect();
        let branches: Vec<_> = self.branches.iter().map(WrittenBranch::from).collect();
        let mut map = serializer.serialize_struct("Session", 7)?;
        map.serialize_field("version", &VERSION)?;
        map.serialize_field("strategy", self.strategy().name())?;
        map.serialize_field("policy", &self.policy)?;
        map.serialize_field("current", &self.current)?;
        map.serialize_field("branches", &branches)?;
        map.serialize_field("thoughts", &self.thoughts)?;
        map.serialize_field("strategies", &strategies)?;

        map.end()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBranch {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<ThoughtId>,
    total_thoughts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pruned: bool,
}

impl From<&Branch> for WrittenBranch {
    fn from(branch: &Branch) -> Self {
        Self {
            name: branch.name.clone(),
            from: branch.from,
            total_thoughts: branch.total_thoughts,
            score: branch.score,
            pruned: branch.status == BranchStatus::Pruned,
        }
    }
}

pub(super) fn write_thought<S: Serializer>(
    thought: &Thought,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Written {
        id: thought.id,
        branch: thought.branch,
        number: thought.number,
        kind: thought.kind,
        strategy: thought.strategy().name(),
        stage: thought.stage().name(),
        thought: &*thought.text,
        parameters: Parameters(thought),
        revises: thought.revises,
        next_thought_needed: thought.next_thought_needed,
        forgotten: thought.forgotten,
        merged: thought.merged.as_ref(),
    }
    .serialize(serializer)
}

struct Parameters<'a>(&'a Thought);

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.parameters())
    }
}

/// A thought, borrowed for writing or owned from reading.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<Text, Map, Merge> {
    id: ThoughtId,
    branch: BranchId,
    number: u32,
    kind: ThoughtKind,
    strategy: Text,
    stage: Text,
    thought: Text,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    revises: Option<ThoughtId>,
    next_thought_needed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forgotten: bool,
    parameters: Map,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    merged: Option<Merge>,
}

type ReadThought = Written<String, BTreeMap<String, Value>, Box<Merged>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    version: u32,
    strategy: String,
    policy: SessionPolicy,
    current: BranchId,
    #[serde(deserialize_with = "at_most::<_, _, { SessionLimits::MAX.branches }>")]
    branches: Vec<WrittenBranch>,
    #[serde(deserialize_with = "at_most::<_, _, { SessionLimits::MAX.thoughts }>")]
    thoughts: Vec<ReadThought>,
    strategies: Strategies,
}

impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let snapshot = Snapshot::deserialize(deserializer)?;
        snapshot.into_session().map_err(D::Error::custom)
    }
}

/// A list of at most so many, refused on the way and not after all of it has been read.
fn at_most<'de, D, T, const MAX: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct AtMost<T, const MAX: usize>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for AtMost<T, MAX> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MAX}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = list.next_element()? {
                if items.len() == MAX {
                    return Err(A::Error::invalid_length(MAX + 1, &self));
                }
                items.push(item);
            }

            Ok(items)
        }
    }

    deserializer.deserialize_seq(AtMost::<T, MAX>(PhantomData))
}

impl Snapshot {
    fn into_session(self) -> Result<Session, String> {
        if self.version != VERSION {
            return Err(format!("`version` is {}; expected {VERSION}", self.version));
        }

        let by_name: HashMap<&str, &Strategy> = self
            .strategies
            .iter()
            .map(|strategy| (strategy.name(), strategy))
            .collect();

        let strategy = |name: &str| match by_name.get(name) {
            Some(strategy) => Ok(Strategy::clone(strategy)),
            None => self
                .strategies
                .get(name)
                .cloned()
                .map_err(|error| error.to_string()),
        };

        let mut session = Session::with_policy(strategy(&self.strategy)?, self.policy);
        let mut has_forgotten = false;
        let mut branches = self.branches.iter();

        match branches.next() {
            Some(WrittenBranch {
                name, from: None, ..
            }) if *name == "main" => {}
            _ => {
                return Err(
                    "`branches` does not begin with `main`; expected it first, and without `from`"
                        .to_owned(),
                );
            }
        }

        let mut fork = |session: &mut Session| match branches.next() {
            None => Ok(false),
            Some(WrittenBranch {
                name,
                from: Some(from),
                ..
            }) => {
                let forked = session.fork_from(*from, name.clone());
                forked
                    .map(|_| true)
                    .map_err(|error| format!("branch `{}`: {error}", Name(name)))
            }
            Some(WrittenBranch { name, .. }) => {
                Err(format!("branch `{}` has no `from`", Name(name)))
            }
        };

        for thought in self.thoughts {
            let id = thought.id;

            // Branches as soon as they are needed: what they were forked from is there by then.
            let sources = thought
                .merged
                .iter()
                .flat_map(|merged| merged.sources.iter().copied());
            let newest = sources.fold(thought.branch, BranchId::max);
            while session.branch(newest).is_err() && fork(&mut session)? {}
            let is_forgotten = thought.forgotten;

            replay(&mut session, thought, &strategy, has_forgotten)
                .map_err(|error| format!("thought {id}: {error}"))?;
            has_forgotten |= is_forgotten;
        }

        while fork(&mut session)? {}
        finish(&mut session, &self.branches, self.current)?;
        let unused = self
            .strategies
            .iter()
            .find(|strategy| !session.strategies.contains(strategy));

        match unused {
            Some(unused) => Err(format!("no thought is in the strategy `{}`", unused.name())),
            None => Ok(session),
        }
    }
}

/// Thinks a thought again.
fn replay(
    session: &mut Session,
    read: ReadThought,
    strategy: &impl Fn(&str) -> Result<Strategy, String>,
    has_forgotten: bool,
) -> Result<(), String> {
    charge(1 + read.thought.len());
    let told = |error: SessionError| error.to_string();
    let next = ThoughtId::at(session.thoughts.len());
    let branch = session.branch(read.branch).map_err(told)?;

    if (read.id, read.number) != (next, branch.len() + 1) {
        return Err(format!(
            "it has the id {} and the number {}; expected {next} and {}",
            read.id,
            read.number,
            branch.len() + 1
        ));
    }

    if read.forgotten && !(read.thought.is_empty() && read.parameters.is_empty()) {
        return Err("it is forgotten, but has a text or parameters; expected none".to_owned());
    }

    let draft = ThoughtDraft {
        stage: (read.kind != ThoughtKind::Stay).then(|| read.stage.clone()),
        parameters: read.parameters,
        revises: read.revises,
        next_thought_needed: read.next_thought_needed,
        ..ThoughtDraft::here(read.thought)
    };

    let mut prepared = match read.kind {
        ThoughtKind::Move | ThoughtKind::Stay => {
            session.prepare_known(read.branch, draft, read.forgotten)
        }
        ThoughtKind::Strategy => {
            let start = Place::start(strategy(&read.strategy)?);
            session.prepare_entry(read.branch, start, draft, read.kind, read.forgotten)
        }
        ThoughtKind::Part => {
            let start = session
                .part(read.branch, strategy(&read.strategy)?)
                .map_err(told)?;
            session.prepare_entry(read.branch, start, draft, read.kind, read.forgotten)
        }
    }
    .map_err(told)?;

    let Prepared { place, .. } = &prepared;
    if (place.stage().name(), place.strategy.name()) != (&*read.stage, &*read.strategy) {
        return Err(format!(
            "it is in `{}` of `{}`; expected `{}` of `{}`",
            Name(&read.stage),
            Name(&read.strategy),
            place.stage().name(),
            place.strategy.name()
        ));
    }

    if let Some(merged) = read.merged {
        check_merged(session, &merged, read.branch, has_forgotten)
            .map_err(|error| format!("`merged`: {error}"))?;
        prepared.merged = Some(merged);
    }

    session.add(prepared).map(drop).map_err(told)
}

/// Merges again, with the decisions on record: they may rest on scores that have changed since.
fn check_merged(
    session: &Session,
    merged: &Merged,
    into: BranchId,
    has_forgotten: bool,
) -> Result<(), String> {
    let decided = |name: &str| {
        merged
            .conflicts
            .iter()
            .find(|conflict| conflict.parameter == name)
    };

    let again = session
        .merged(&merged.sources, into, merged.rule, |conflict| {
            decided(&conflict.parameter)?.taken
        })
        .map_err(|error| error.to_string())?;

    let among = merged.conflicts.iter().all(|conflict| {
        conflict.branches.len() == conflict.values.len()
            && conflict
                .taken
                .is_some_and(|taken| conflict.branches.contains(&taken))
    });

    // What was forgotten cannot be merged again: then the sources and the last thoughts must be right.
    let same = if has_forgotten {
        again.parents == merged.parents
    } else {
        again == *merged
    };

    if same && among {
        Ok(())
    } else {
        Err("it is not what these branches merge to".to_owned())
    }
}

/// Puts what no thought says on the branches.
fn finish(
    session: &mut Session,
    branches: &[WrittenBranch],
    current: BranchId,
) -> Result<(), String> {
    let most = session.policy.limits.thoughts;
    for (branch, written) in session.branches.iter_mut().zip(branches) {
        let wrong = |what: &str, expected: &str| {
            Err(format!(
                "branch `{}`: {what}; expected {expected}",
                Name(&written.name)
            ))
        };

        let expected = written.total_thoughts.max(1);
        let most = u32::try_from(most)
            .unwrap_or(u32::MAX)
            .max(branch.len().saturating_add(1));
        if expected != written.total_thoughts || !(branch.len()..=most).contains(&expected) {
            return wrong(
                "`total_thoughts` does not fit",
                "at least as many as it has, and at most the limit",
            );
        }

        if written
            .score
            .is_some_and(|score| !(0.0..=10.0).contains(&score))
        {
            return wrong("`score` is out of range", "a number from 0 to 10");
        }

        if written.pruned && (branch.status != BranchStatus::Open || branch.id == current) {
            return wrong(
                "it is pruned, but current or not open",
                "an open one that is not current",
            );
        }

        branch.total_thoughts = expected;
        branch.score = written.score;
        if written.pruned {
            branch.status = BranchStatus::Pruned;
        }
    }

    session
        .switch(current)
        .map_err(|error| format!("`current`: {error}"))?;
    let kept = session.kept();
    let mut forgotten = session
        .thoughts
        .iter()
        .zip(kept)
        .filter(|(thought, _)| thought.forgotten)
        .peekable();

    if forgotten.peek().is_some() && session.policy.when_full != WhenFull::ForgetPruned {
        return Err("thoughts are forgotten, but the policy forgets none".to_owned());
    }

    if let Some((thought, _)) = forgotten.find(|(_, kept)| *kept) {
        return Err(format!(
            "thought {} is forgotten, but a branch stands on it",
            thought.id
        ));
    }

    drop(forgotten);
    session.may_forget = session
        .branches
        .iter()
        .any(|branch| branch.status == BranchStatus::Pruned);
    Ok(())
}
