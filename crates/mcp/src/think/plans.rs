//! Operations that change a session, from the arguments of a call.

use cogwork_strategies::{BranchId, ConflictRule, Session, ThoughtDraft, ThoughtId};
use serde_json::json;

use super::given::{self, NAME, branch, draft, new_name};
use super::operation::Operation;
use super::rules::Rules;
use super::sessions::ThinkSessions;
use crate::arguments::Arguments;
use crate::tool::ToolFailure;

/// Returns the operation to perform on a session as it is now.
pub(crate) type Plan = Box<dyn Fn(&Session) -> Result<Operation, ToolFailure> + Send + Sync>;

/// Reads the arguments of an operation.
pub(crate) type Read = fn(&mut Arguments, &ThinkSessions) -> Result<Plan, ToolFailure>;

const RULES: [(&str, ConflictRule); 4] = [
    ("keep_target", ConflictRule::KeepTarget),
    ("take_source", ConflictRule::TakeSource),
    ("highest_score", ConflictRule::HighestScore),
    ("refuse", ConflictRule::Refuse),
];

pub(crate) fn fork(arguments: &mut Arguments, _: &ThinkSessions) -> Result<Plan, ToolFailure> {
    arguments.alias("branchFromThought", "from");
    arguments.alias("branchFrom", "from");
    let from = given::thought(arguments, "from")?;
    let name = arguments.text("branch", NAME)?;

    Ok(Box::new(move |session| {
        let name = name.clone().unwrap_or_else(|| new_name(session));
        let tip = || session.branch(session.current()).ok()?.tip();
        let from = from.or_else(tip).ok_or_else(no_thoughts)?;
        Ok(Operation::Fork { from, name })
    }))
}

pub(crate) fn switch(arguments: &mut Arguments, _: &ThinkSessions) -> Result<Plan, ToolFailure> {
    let name = arguments.required_text("branch", NAME)?;
    Ok(Box::new(move |session| {
        let branch = branch(session, Some(&name))?;
        Ok(Operation::Switch { branch })
    }))
}

pub(crate) fn select_best(_: &mut Arguments, _: &ThinkSessions) -> Result<Plan, ToolFailure> {
    Ok(Box::new(|_| Ok(Operation::SelectBest {})))
}

pub(crate) fn score(arguments: &mut Arguments, _: &ThinkSessions) -> Result<Plan, ToolFailure> {
    let name = arguments.text("branch", NAME)?;
    let score = arguments.number("score", 0.0..=10.0)?;
    let score = score.ok_or_else(|| arguments.missing("score", "a number from 0 to 10"))?;

    Ok(Box::new(move |session| {
        let branch = branch(session, name.as_deref())?;
        Ok(Operation::Score { branch, score })
    }))
}

pub(crate) fn merge(
    arguments: &mut Arguments,
    sessions: &ThinkSessions,
) -> Result<Plan, ToolFailure> {
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

pub(crate) fn prune(arguments: &mut Arguments, _: &ThinkSessions) -> Result<Plan, ToolFailure> {
    let name = arguments.required_text("branch", NAME)?;
    Ok(Box::new(move |session| {
        let branch = branch(session, Some(&name))?;
        Ok(Operation::Prune { branch })
    }))
}

pub(crate) fn change_strategy(
    arguments: &mut Arguments,
    sessions: &ThinkSessions,
) -> Result<Plan, ToolFailure> {
    enter(arguments, sessions, |branch, strategy, draft| {
        Operation::ChangeStrategy {
            branch,
            strategy,
            draft,
        }
    })
}

pub(crate) fn begin_part(
    arguments: &mut Arguments,
    sessions: &ThinkSessions,
) -> Result<Plan, ToolFailure> {
    enter(arguments, sessions, |branch, strategy, draft| {
        Operation::BeginPart {
            branch,
            strategy,
            draft,
        }
    })
}

fn enter(
    arguments: &mut Arguments,
    sessions: &ThinkSessions,
    operation: fn(BranchId, Rules, ThoughtDraft) -> Operation,
) -> Result<Plan, ToolFailure> {
    let strategies = sessions.strategies();
    let strategy = given::required_strategy(arguments, strategies)?;
    let name = arguments.text("branch", NAME)?;
    let draft = draft(arguments, sessions.limits())?;

    Ok(Box::new(move |session| {
        let branch = branch(session, name.as_deref())?;
        Ok(operation(branch, Rules::of(&strategy), draft.clone()))
    }))
}

pub(crate) fn undo(arguments: &mut Arguments, _: &ThinkSessions) -> Result<Plan, ToolFailure> {
    let expected = given::thought(arguments, "last")?;
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
