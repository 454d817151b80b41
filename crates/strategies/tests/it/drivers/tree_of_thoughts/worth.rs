//! How branches are scored: by the model, and by a program.

use std::time::Duration;

use cogwork_llm::{ScriptedClient, ScriptedReply};
use cogwork_strategies::{SolveBudget, Solver, Worth};
use tokio::time::Instant;

use super::{PROBLEM, TWO, judged, small};
use crate::drivers::support::told;

#[tokio::test]
async fn a_program_can_judge_and_then_the_model_only_proposes() {
    let client = ScriptedClient::new([
        r#"approaches: [{"id": "tens", "description": "1 + 1 = 2", "promise": 5}]"#,
        "- 2 + 1 = 3\n- 2 * 2 = 4",
        "answer: 4",
    ]);

    let check = |problem: &str, steps: &[&str]| {
        assert_eq!(
            (problem, steps[0], steps.len()),
            ("Make 4.", "1 + 1 = 2", 2)
        );
        if steps[1].ends_with("= 4") {
            Worth::solved()
        } else {
            Worth::new(f64::NAN)
        }
    };

    let solved = Solver::new(client, small().with_check(check))
        .solve("Make 4.")
        .await
        .unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: Make 4.
      2 approach_exploration: Approaches: tens. · approaches = [{"description":"1 + 1 = 2","id":"tens","promise":5.0}]
      3 [tens] branch_creation: 1 + 1 = 2 · approach_id = tens
      4 [tens] branch_development: 2 + 1 = 3 · approach_id = tens
      5 [tens-2] branch_development: 2 * 2 = 4 · approach_id = tens
      6 [tens] branch_evaluation: This is judged. · approach_id = tens · evaluation_score = 0.0
      7 [tens-2] branch_evaluation: This is solved. · approach_id = tens · evaluation_score = 10.0
      8 [tens-2] branch_selection: Chosen with a score of 10. · approach_id = tens
      9 [tens-2] continuation_decision: `tens-2` holds the solution.
     10 [tens-2] solution_formulation: 4
     11 [tens-2] path_justification: `tens-2` has a score of 10 and is solved; best of the others: `tens` 0.
     12 [tens-2] final_response: 4
    answer: 4
    end: answered
    spent: 3 calls, about 408 tokens
    "#);
}

#[tokio::test(start_paused = true)]
async fn the_questions_of_a_round_are_asked_at_once() {
    let slow =
        |seconds: u64, text: &str| ScriptedReply::from(text).after(Duration::from_secs(seconds));
    let client = ScriptedClient::default()
        .then(slow(1, TWO))
        .then(slow(10, "- a\n- b"))
        .then(slow(30, "- c\n- d"))
        .then(slow(100, &judged(7, false)))
        .then(slow(200, &judged(7, false)))
        .then(slow(300, &judged(7, false)))
        .then(slow(200, &judged(9, true)))
        .then(slow(1000, "answer: d"));

    let begun = Instant::now();
    let solved = Solver::new(client, small())
        .with_budget(SolveBudget::default().with_time(Duration::MAX))
        .solve(PROBLEM)
        .await
        .unwrap();

    assert_eq!(
        (begun.elapsed().as_secs(), solved.answer()),
        (1 + 30 + 300 + 1000, Some("d"))
    );
}
