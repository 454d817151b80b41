//! How branches are compared: by votes, by values, and by a program.

use std::time::Duration;

use cogwork_llm::{ScriptedClient, ScriptedReply};
use cogwork_strategies::{Evaluation, Limits, Search, Solver, TreeOfThoughts, Worth};
use tokio::time::Instant;

use super::{PROBLEM, TWO, judged, small};
use crate::methods::support::{conversation, told};

#[tokio::test]
async fn votes_compare_the_branches_of_a_round() {
    let vote = |choice: u32| format!("thought: best of all\nchoice: {choice}\nsolved: no");
    let client = ScriptedClient::new([
        TWO.to_owned(),
        "- book a table\n- take the tram".to_owned(),
        "- buy rice\n- buy noodles".to_owned(),
        vote(3),
        vote(1),
        vote(3),
        "answer: rice".to_owned(),
    ]);

    let solved = Solver::new(
        client.clone(),
        TreeOfThoughts {
            depth: 1,
            evaluation: Evaluation::Votes(3),
            ..small()
        },
    )
    .solve(PROBLEM)
    .await
    .unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: Plan an evening for six.
      2 approach_exploration: Approaches: B, A. · approaches = [{"description":"go out","id":"B","promise":8.0},{"description":"cook","id":"A","promise":5.0}]
      3 [B] branch_creation: go out · approach_id = B
      4 [A] branch_creation: cook · approach_id = A
      5 [B] branch_development: book a table · approach_id = B
      6 [B-2] branch_development: take the tram · approach_id = B
      7 [A] branch_development: buy rice · approach_id = A
      8 [A-2] branch_development: buy noodles · approach_id = A
      9 [B] branch_evaluation: 1 of 3 votes. · approach_id = B · evaluation_score = 3.33
     10 [A] branch_evaluation: 0 of 3 votes. · approach_id = A · evaluation_score = 0.0
     11 [B-2] branch_evaluation: 2 of 3 votes. · approach_id = B · evaluation_score = 6.67
     12 [A-2] branch_evaluation: 0 of 3 votes. · approach_id = A · evaluation_score = 0.0
     13 [B-2] branch_selection: Chosen with a score of 6.67. · approach_id = B
     14 [B] branch_selection: Chosen with a score of 3.33. · approach_id = B
     15 [B] continuation_decision: `B-2` has come to its end and is the best.
     16 [B-2] continuation_decision: `B-2` has come to its end and is the best.
     17 [B-2] solution_formulation: rice
     18 [B-2] path_justification: `B-2` has a score of 6.67; best of the others: `B` 3.33, `A` 0, `A-2` 0.
     19 [B-2] final_response: rice
    answer: rice
    end: answered
    spent: 7 calls, about 1144 tokens
    "#);

    insta::assert_snapshot!(conversation(&client.requests()[3]), @"
    [system] You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is followed. Each message asks for one part of that work. Do what it asks and nothing else.

    [user] The problem:
    Plan an evening for six.

    Ways to the solution, as far as they were gone.

    Way 1:
    1. go out
    2. book a table

    Way 2:
    1. cook
    2. buy rice

    Way 3:
    1. go out
    2. take the tram

    Way 4:
    1. cook
    2. buy noodles

    Judge them, and choose the one that is most likely to lead to a solution.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    choice: the number of the way that is chosen (an integer from 1 to 4)
    solved: whether it holds the whole solution already (true or false)
    ");
}

#[tokio::test]
async fn values_are_the_mean_of_several() {
    let client = ScriptedClient::new([
        TWO,
        "book a table",
        &judged(8, true),
        &judged(7, false),
        "no score at all",
        "answer: a table",
    ]);

    let driver = TreeOfThoughts {
        search: Search::DepthFirst,
        proposals: 1,
        depth: 1,
        evaluation: Evaluation::Values(3),
        ..small()
    };

    let solved = Solver::new(client, driver)
        .with_asks_again(0)
        .solve(PROBLEM)
        .await
        .unwrap();

    let session = solved.trace().session();
    assert_eq!(session.branch_named("B").unwrap().score(), Some(7.5));
    assert_eq!(solved.answer(), Some("a table"));
}

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

    let solved = Solver::new(
        client,
        TreeOfThoughts {
            evaluation: Evaluation::check(check),
            ..small()
        },
    )
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
        .with_limits(Limits::default().with_time(Duration::MAX))
        .solve(PROBLEM)
        .await
        .unwrap();

    assert_eq!(
        (begun.elapsed().as_secs(), solved.answer()),
        (1 + 30 + 300 + 1000, Some("d"))
    );
}
