//! Walks a session through the stages of a strategy. Without arguments, it shows a tree of thoughts
//! with two approaches as branches, of which the better one is followed until the end.
//!
//! ```text
//!  1 problem_reception      Make 24 from 4, 9, 10 and 13.
//!  2 approach_exploration   Multiply first, or subtract first.
//!  │
//!  ├─ products, score 2, given up
//!  │   3 branch_creation        I try products.
//!  │   4 branch_development     4 * 9 = 36 (left: 10, 13, 36)
//!  │   5 branch_evaluation      36 - 13 = 23, 36 - 10 = 26: no.
//!  │
//!  ├─ differences, score 8
//!  │   6 branch_creation        I try differences.
//!  │   7 branch_development     13 - 9 = 4 (left: 4, 4, 10)
//!  │   8 branch_evaluation      Small numbers are left: likely.
//!  │   9 branch_selection       The differences.
//!  │  10 continuation_decision  One step more.
//!  │  11 branch_development     10 - 4 = 6, 4 * 6 = 24
//!  │  12 branch_evaluation      It is 24.
//!  │  13 branch_selection       Still the differences.
//!  │  14 continuation_decision  That is enough.
//!  │  15 solution_formulation   (13 - 9) * (10 - 4) = 24
//!  │  16 path_justification     The other branch was two off.
//!  │  17 final_response         (13 - 9) * (10 - 4)
//!
//! refused on the way: `tree_of_thoughts` does not lead from `continuation_decision` to `final_response`; expected `branch_development`, `branch_creation` or `solution_formulation`
//! branch `differences` is complete with thought 17
//! saved and read back: the same
//! ```
//!
//! `cargo run --example stage_walk -- STRATEGY STAGE STAGE …` walks the stages that are named; `-- --help`
//! tells the rest.

use std::error::Error;
use std::process::ExitCode;

use cogwork::strategies::session::{
    Branch, BranchId, BranchStatus, Session, SessionError, ThoughtDraft,
};
use cogwork::strategies::{Strategy, StrategyName};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

const HELP: &str = "\
usage: stage_walk                              a tree of thoughts, to look at
       stage_walk STRATEGY STAGE STAGE …       walks a session; exit code 0 when every move is legal
       stage_walk STRATEGY --table             prints {stage: [next, …]} as JSON

A session stands in the start stage; the first STAGE may name that one or one behind it. On the first move
that is refused the refusal is printed as JSON, and the exit code is 1. It is 2 when STRATEGY is not one.

A stage that needs parameters gets placeholders: a text is \"placeholder\", a number the least allowed or 0, a
thought the number 1, a truth value true; a list has one item, a map one entry. Other values stand behind a colon,
as JSON or plain text, and then nothing else is given:
    STAGE:key=value,key=value    action_planning:action=search
    STAGE:                       no parameters at all";

type Failed = Box<dyn Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let walked = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => tree_of_thoughts().map(|()| true),
        ["--help" | "-h"] => {
            println!("{HELP}");
            Ok(true)
        }
        [strategy, "--table"] | ["--table", strategy] => table(strategy).map(|()| true),
        [strategy, ref stages @ ..] => walk(strategy, stages),
    };

    match walked {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn table(strategy: &str) -> Result<(), Failed> {
    let strategy = strategy.parse::<StrategyName>()?.strategy();
    println!("{}", serde_json::to_string_pretty(&Table(&strategy))?);
    Ok(())
}

/// `{stage: [next, …]}` in the order of the table.
struct Table<'a>(&'a Strategy);

impl Serialize for Table<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.0
                .stages()
                .iter()
                .map(|stage| (&stage.name, &stage.next)),
        )
    }
}

/// Returns whether all moves were legal.
fn walk(strategy: &str, stages: &[&str]) -> Result<bool, Failed> {
    let strategy = strategy.parse::<StrategyName>()?.strategy();
    let mut session = Session::new(strategy.clone());
    for argument in stages {
        let draft = draft(&strategy, argument);
        // Only the refusal is printed, so that the output is valid JSON.
        if let Err(refusal) = session.think(draft.clone()) {
            println!("{:#}", refused(&session, &draft, &refusal)?);
            return Ok(false);
        }
    }

    for thought in session.thoughts() {
        println!("{} {}", thought.id, thought.stage);
    }

    let next: Vec<&str> = session
        .allowed(session.current())?
        .into_iter()
        .map(|stage| &*stage.name)
        .collect();

    match &next[..] {
        [] => println!("complete"),
        next => println!("next: {}", next.join(" or ")),
    }

    Ok(true)
}

/// A refusal with its reason, and the parameters that are missing or unknown, or else what is wrong with
/// the others.
fn refused(
    session: &Session,
    draft: &ThoughtDraft,
    refusal: &SessionError,
) -> Result<Value, Failed> {
    let allowed = session.allowed(session.current())?;
    let allowed: Vec<&str> = allowed.iter().map(|stage| &*stage.name).collect();
    let attempted = draft.stage.as_deref().unwrap_or_default();
    let stage = session.strategy().stage(attempted);
    let reason = match stage {
        Some(_) if allowed.contains(&attempted) => "parameters",
        Some(_) => "illegal_move",
        None => "unknown_stage",
    };

    let (given, known) = (&draft.parameters, stage.map(|stage| &stage.parameters));
    let known = known.filter(|_| reason == "parameters");
    let missing = known
        .into_iter()
        .flatten()
        .filter(|(name, parameter)| !parameter.is_optional && !given.contains_key(*name));
    let missing: Vec<&String> = missing.map(|(name, _)| name).collect();
    let unknown = known.map(|known| given.keys().filter(|name| !known.contains_key(*name)));
    let unknown: Vec<&String> = unknown.into_iter().flatten().collect();
    let is_mistyped = known.is_some() && missing.is_empty() && unknown.is_empty();
    let mistyped = is_mistyped.then(|| refusal.to_string());

    Ok(json!({
        "kind": "refused",
        "strategy": session.strategy().name(),
        "from": session.stage().name,
        "attempted": attempted,
        "reason": reason,
        "allowed": allowed,
        "missing": missing,
        "mistyped": Vec::from_iter(mistyped),
        "unknown": unknown,
    }))
}

/// `STAGE`, with placeholders, or `STAGE:key=value,…`.
fn draft(strategy: &Strategy, argument: &str) -> ThoughtDraft {
    let Some((stage, values)) = argument.split_once(':') else {
        let mut draft = ThoughtDraft::at(argument, "…");
        let stage = strategy.stage(argument);
        let parameters = stage.into_iter().flat_map(|stage| &stage.parameters);

        for (name, parameter) in parameters.filter(|(_, parameter)| !parameter.is_optional) {
            draft = draft.with(name, placeholder(&parameter.schema));
        }

        return draft;
    };

    // A comma ends a value only if another key follows.
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for piece in values.split(',').filter(|piece| !piece.is_empty()) {
        match (piece.split_once('='), pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key.trim(), value.to_owned())),
            (None, Some((_, value))) => *value += &format!(",{piece}"),
            (None, None) => pairs.push((piece, String::new())),
        }
    }

    pairs
        .into_iter()
        .fold(ThoughtDraft::at(stage, "…"), |draft, (key, value)| {
            draft.with(
                key,
                serde_json::from_str(&value).unwrap_or(Value::String(value)),
            )
        })
}

fn placeholder(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("thought") => json!(1),
        Some("array") => json!([placeholder(&schema["items"])]),
        Some("object") if schema.get("properties").is_none() => {
            json!({"placeholder": placeholder(&schema["additionalProperties"])})
        }
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields
                .map(|(name, field)| (name.clone(), placeholder(field)))
                .collect()
        }
        _ => json!("placeholder"),
    }
}

fn tree_of_thoughts() -> Result<(), Failed> {
    let mut session = Session::new(StrategyName::TreeOfThoughts);
    session.think(ThoughtDraft::at(
        "problem_reception",
        "Make 24 from 4, 9, 10 and 13.",
    ))?;
    let approaches = json!([
        {"id": "products", "description": "multiply first", "promise": 5},
        {"id": "differences", "description": "subtract first", "promise": 6},
    ]);
    let explored = session.think(
        ThoughtDraft::at("approach_exploration", "Multiply first, or subtract first.")
            .with("approaches", approaches),
    )?;

    // Both branches are developed in turn.
    let mut branches = Vec::new();
    for (name, step, judged, score) in [
        (
            "products",
            "4 * 9 = 36 (left: 10, 13, 36)",
            "36 - 13 = 23, 36 - 10 = 26: no.",
            2,
        ),
        (
            "differences",
            "13 - 9 = 4 (left: 4, 4, 10)",
            "Small numbers are left: likely.",
            8,
        ),
    ] {
        let branch = session.fork(explored, name)?;
        let at = |stage: &str, text: &str| ThoughtDraft::at(stage, text).with("approach_id", name);
        session.think_on(branch, at("branch_creation", &format!("I try {name}.")))?;
        session.think_on(branch, at("branch_development", step))?;
        session.think_on(
            branch,
            at("branch_evaluation", judged).with("evaluation_score", score),
        )?;
        session.score(branch, f64::from(score))?;
        branches.push(branch);
    }

    // The better branch is followed, and the other one is abandoned.
    let best = session.select_best()?;
    for branch in branches.into_iter().filter(|branch| *branch != best) {
        session.prune(branch)?;
    }

    let at =
        |stage: &str, text: &str| ThoughtDraft::at(stage, text).with("approach_id", "differences");
    session.think(at("branch_selection", "The differences."))?;
    session.think(ThoughtDraft::at("continuation_decision", "One step more."))?;

    // A move that the table does not allow is refused without changing anything.
    let refused = session.think(ThoughtDraft::at("final_response", "24!"));

    session.think(at("branch_development", "10 - 4 = 6, 4 * 6 = 24"))?;
    session.think(at("branch_evaluation", "It is 24.").with("evaluation_score", 10))?;
    session.think(at("branch_selection", "Still the differences."))?;
    session.think(ThoughtDraft::at("continuation_decision", "That is enough."))?;
    session.think(ThoughtDraft::at(
        "solution_formulation",
        "(13 - 9) * (10 - 4) = 24",
    ))?;
    session.think(ThoughtDraft::at(
        "path_justification",
        "The other branch was two off.",
    ))?;
    session.think(ThoughtDraft::at("final_response", "(13 - 9) * (10 - 4)"))?;

    draw(&session, session.branch(BranchId::MAIN)?, "");
    println!();
    if let Err(SessionError::Refused(refusal)) = refused {
        println!("refused on the way: {refusal}");
    }

    let best = session.branch(best)?;
    if let (BranchStatus::Complete, Some(last)) = (best.status, best.tip()) {
        println!("branch `{}` is complete with thought {last}", best.name);
    }

    let saved = serde_json::to_string(&session)?;
    println!(
        "saved and read back: {}",
        if serde_json::from_str::<Session>(&saved)? == session {
            "the same"
        } else {
            "another"
        }
    );

    Ok(())
}

/// Prints the thoughts of a branch, each followed by the branches that were forked from it.
fn draw(session: &Session, branch: &Branch, indent: &str) {
    for thought in branch.thoughts.iter().filter_map(|id| session.thought(*id)) {
        println!(
            "{indent}{:>2} {:<22} {}",
            thought.id, thought.stage, thought.text
        );

        let forks = session
            .branches()
            .iter()
            .filter(|fork| fork.from == Some(thought.id));
        for fork in forks {
            let score = fork
                .score
                .map_or(String::new(), |score| format!(", score {score}"));
            let status = if fork.status == BranchStatus::Pruned {
                ", given up"
            } else {
                ""
            };

            println!("{indent} │");
            println!("{indent} ├─ {}{score}{status}", fork.name);
            draw(session, fork, &format!("{indent} │  "));
        }
    }
}
