//! Operations that change a session, from the arguments of a call.

use cogwork_strategies::{BranchId, ConflictRule, Session, ThoughtDraft, ThoughtId};
use serde_json::json;

use super::begin;
use super::branch_name::{branch, new_name};
use super::draft::{self, NAME, draft};
use super::operation::Operation;
use super::rules::Rules;
use super::sessions::ThinkSessions;
use crate::arguments::Arguments;
use crate::tool::ToolFailure;

/// Returns the operation to perform on a session as it is now.
pub(crate) type Plan = Box<dyn Fn(&Session) -> Result<Operation, ToolFailure> + Send + Sync>;

/// An operation that changes a session.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChangeKind {
    Fork,
    Switch,
    Score,
    SelectBest,
    Merge,
    Prune,
    ChangeStrategy,
    BeginPart,
    Undo,
}

const RULES: [(&str, ConflictRule); 4] = [
    ("keep_target", ConflictRule::KeepTarget),
    ("take_source", ConflictRule::TakeSource),
    ("highest_score", ConflictRule::HighestScore),
    ("refuse", ConflictRule::Refuse),
];

/// Reads the arguments of an operation.
pub(crate) fn plan(
    kind: ChangeKind,
    arguments: &mut Arguments,
    sessions: &ThinkSessions,
) -> Result<Plan, ToolFailure> {
    arguments.alias("branchId", "branch");
    match kind {
        ChangeKind::Fork => fork(arguments),
        ChangeKind::Switch => switch(arguments),
        ChangeKind::Score => score(arguments),
        ChangeKind::SelectBest => Ok(Box::new(|_| Ok(Operation::SelectBest {}))),
        ChangeKind::Merge => merge(arguments, sessions),
        ChangeKind::Prune => prune(arguments),
        ChangeKind::ChangeStrategy => enter(arguments, sessions, changed_strategy),
        ChangeKind::BeginPart => enter(arguments, sessions, begun_part),
        ChangeKind::Undo => undo(arguments),
    }
}

pub(crate) fn fork(arguments: &mut Arguments) -> Result<Plan, ToolFailure> {
    arguments.alias("branchFromThought", "from");
    arguments.alias("branchFrom", "from");
    let from = draft::thought(arguments, "from")?;
    let name = arguments.text("branch", NAME)?;

    Ok(Box::new(move |session| {
        let name = name.clone().unwrap_or_else(|| new_name(session));
        let tip = || session.branch(session.current()).ok()?.tip();
        let from = from.or_else(tip).ok_or_else(no_thoughts)?;
        Ok(Operation::Fork { from, name })
    }))
}

fn switch(arguments: &mut Arguments) -> Result<Plan, ToolFailure> {
    let name = arguments.required_text("branch", NAME)?;
    Ok(Box::new(move |session| {
        let branch = branch(session, Some(&name))?;
        Ok(Operation::Switch { branch })
    }))
}

fn score(arguments: &mut Arguments) -> Result<Plan, ToolFailure> {
    let name = arguments.text("branch", NAME)?;
    let score = arguments.number("score", 0.0..=10.0)?;
    let score = score.ok_or_else(|| arguments.missing("score", "a number from 0 to 10"))?;

    Ok(Box::new(move |session| {
        let branch = branch(session, name.as_deref())?;
        Ok(Operation::Score { branch, score })
    }))
}

fn merge(arguments: &mut Arguments, sessions: &ThinkSessions) -> Result<Plan, ToolFailure> {
    let names = arguments.texts("branches", NAME)?;
    let names = names.ok_or_else(|| arguments.missing("branches", "a list of branches"))?;
    let into = arguments.text("into", NAME)?;
    let rule = arguments.choice("rule", &RULES)?.unwrap_or_default();
    let draft = draft(arguments, sessions.limits())?;

    Ok(Box::new(move |session| {
        let sources = names.iter().map(|name| branch(session, Some(name)));
        Ok(Operation::Merge {
            sources: sources.collect::<Result<_, _>>()?,
            into: branch(session, into.as_deref())?,
            rule,
            draft: draft.clone(),
        })
    }))
}

fn prune(arguments: &mut Arguments) -> Result<Plan, ToolFailure> {
    let name = arguments.required_text("branch", NAME)?;
    Ok(Box::new(move |session| {
        let branch = branch(session, Some(&name))?;
        Ok(Operation::Prune { branch })
    }))
}

type Enter = fn(BranchId, Rules, ThoughtDraft) -> Operation;

fn changed_strategy(branch: BranchId, strategy: Rules, draft: ThoughtDraft) -> Operation {
    Operation::ChangeStrategy {
        branch,
        strategy,
        draft,
    }
}

fn begun_part(branch: BranchId, strategy: Rules, draft: ThoughtDraft) -> Operation {
    Operation::BeginPart {
        branch,
        strategy,
        draft,
    }
}

fn enter(
    arguments: &mut Arguments,
    sessions: &ThinkSessions,
    operation: Enter,
) -> Result<Plan, ToolFailure> {
    let strategies = sessions.strategies();
    let strategy = begin::required_strategy(arguments, strategies)?;
    let name = arguments.text("branch", NAME)?;
    let draft = draft(arguments, sessions.limits())?;

    Ok(Box::new(move |session| {
        let branch = branch(session, name.as_deref())?;
        Ok(operation(branch, Rules::of(&strategy), draft.clone()))
    }))
}

fn undo(arguments: &mut Arguments) -> Result<Plan, ToolFailure> {
    let expected = draft::thought(arguments, "last")?;
    Ok(Box::new(move |session| {
        let last = session.thoughts().last().map(|thought| thought.id());
        match (expected, last) {
            (Some(expected), Some(last)) if expected != last => Err(not_last(expected, last)),
            _ => Ok(Operation::Undo {}),
        }
    }))
}

fn not_last(expected: ThoughtId, last: ThoughtId) -> ToolFailure {
    let message = format!("the last thought is {last}, not {expected}; nothing was removed");
    let data = json!({"error": {"kind": "not_last", "message": message, "last": last}});
    ToolFailure::Described { message, data }
}

fn no_thoughts() -> ToolFailure {
    let message = "the branch has no thought to fork from; think first".to_owned();
    let data = json!({"error": {"kind": "no_thoughts", "message": message}});
    ToolFailure::Described { message, data }
}
