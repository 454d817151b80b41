//! Walks a session through the stages of a strategy: a tree of thoughts with two approaches as branches, of which the
//! better one is followed until the end.
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

use std::error::Error;

use cogwork::strategies::StrategyName;
use cogwork::strategies::session::{
    Branch, BranchId, BranchStatus, Session, SessionError, ThoughtDraft,
};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
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
    if let (BranchStatus::Complete, Some(last)) = (best.status(), best.tip()) {
        println!("branch `{}` is complete with thought {last}", best.name());
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
    for thought in branch
        .thoughts()
        .iter()
        .filter_map(|id| session.thought(*id))
    {
        println!(
            "{indent}{:>2} {:<22} {}",
            thought.id(),
            thought.stage(),
            thought.text()
        );

        let forks = session
            .branches()
            .iter()
            .filter(|fork| fork.forked_from() == Some(thought.id()));
        for fork in forks {
            let score = fork
                .score()
                .map_or(String::new(), |score| format!(", score {score}"));
            let status = if fork.status() == BranchStatus::Pruned {
                ", given up"
            } else {
                ""
            };

            println!("{indent} │");
            println!("{indent} ├─ {}{score}{status}", fork.name());
            draw(session, fork, &format!("{indent} │  "));
        }
    }
}
