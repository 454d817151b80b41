//! The order in which branches are developed.

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{BranchStatus, Search, Solver, TreeOfThoughts};

use super::{PROBLEM, TWO, judged, small};
use crate::methods::support::{conversation, told};

#[tokio::test]
async fn breadth_first_keeps_the_best_of_each_level() {
    let client = ScriptedClient::new([
        TWO,
        "proposals:\n- book a table\n- take the tram",
        "- buy rice\n- buy noodles\n- buy rice.\n- and a fourth",
        &judged(7, false),
        &judged(1, false),
        &judged(6, false),
        &judged(8, false),
        "proposals:\n1. cook them\n2. Buy noodles",
        "proposals: none",
        &judged(9, true),
        "thought: Cook noodles for six.\nanswer: noodles at home",
    ]);

    let solved = Solver::new(client.clone(), small())
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
      9 [B] branch_evaluation: I judge. · approach_id = B · evaluation_score = 7.0
     10 [A] branch_evaluation: I judge. · approach_id = A · evaluation_score = 1.0
     11 [B-2] branch_evaluation: I judge. · approach_id = B · evaluation_score = 6.0
     12 [A-2] branch_evaluation: I judge. · approach_id = A · evaluation_score = 8.0
     13 [A-2] branch_selection: Chosen with a score of 8. · approach_id = A
     14 [B] branch_selection: Chosen with a score of 7. · approach_id = B
     15 [B] continuation_decision: Go on with A-2, B.
     16 [A-2] continuation_decision: Go on with A-2, B.
     17 [A-2] branch_development: cook them · approach_id = A
     18 [B] continuation_decision: No step is left to take.
     19 [A-2] branch_evaluation: I judge. · approach_id = A · evaluation_score = 9.0
     20 [A-2] branch_selection: Chosen with a score of 9. · approach_id = A
     21 [A-2] continuation_decision: `A-2` holds the solution.
     22 [A-2] solution_formulation: Cook noodles for six.
     23 [A-2] path_justification: `A-2` has a score of 9 and is solved; best of the others: `B` 7, `B-2` 6, `A` 1.
     24 [A-2] final_response: noodles at home
    answer: noodles at home
    end: answered
    spent: 11 calls, about 1813 tokens
    "#);

    let requests = client.requests();
    let asked = [1, 3, 10].map(|place| conversation(&requests[place]));
    insta::assert_snapshot!(conversation(&requests[0]), @"
    [system] You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is followed. Each message asks for one part of that work. Do what it asks and nothing else.

    [user] The problem:
    Plan an evening for six.

    Name 2 approaches that differ, and how much each promises, from 0 to 10.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    approaches: The approaches. (a list that is not empty, as a JSON array of objects {description: a text, id: a text, promise: a number from 0 to 10})
    ");

    insta::assert_snapshot!(asked.join("\n---\n"), @"
    [system] You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is followed. Each message asks for one part of that work. Do what it asks and nothing else.

    [user] The problem:
    Plan an evening for six.

    The way so far:
    1. go out

    Propose up to 2 different next steps. Each is one step only, on one line, with what it gives. If no step is left to take, write `none`.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    proposals: the steps, each in the place of the others (a list, each item on a line of its own that begins with -)
    ---
    [system] You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is followed. Each message asks for one part of that work. Do what it asks and nothing else.

    [user] The problem:
    Plan an evening for six.

    A way to the solution, as far as it was gone:
    1. go out
    2. book a table

    Judge it: are the steps right, and can they lead to a solution? 0 means that they cannot, 10 that they surely do.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    evaluation_score: How promising the branch is now, from 0 to 10. (a number from 0 to 10)
    solved: whether the steps hold the whole solution already (true or false)
    ---
    [system] You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is followed. Each message asks for one part of that work. Do what it asks and nothing else.

    [user] The problem:
    Plan an evening for six.

    The best way that was found:
    1. cook
    2. buy noodles
    3. cook them

    Put its steps together into a solution.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    answer: the answer, short and complete (a text)
    ");
}

#[tokio::test]
async fn depth_first_goes_back_when_a_branch_is_given_up() {
    let client = ScriptedClient::new([
        TWO,
        "- a table outside\n- a table inside",
        &judged(6, false),
        &judged(4, false),
        "- in the rain\n- in the storm",
        &judged(1, false),
        &judged(0, false),
        "- by the window\n- by the door",
        &judged(1, false),
        &judged(1, false),
        "- soup\n- salad",
        &judged(8, false),
        &judged(2, false),
        "- hot soup\n- cold soup",
        &judged(9, false),
        &judged(3, false),
        "answer: hot soup",
    ]);

    let solved = Solver::new(
        client,
        TreeOfThoughts {
            search: Search::DepthFirst,
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
      4 [B] branch_development: a table outside · approach_id = B
      5 [B-2] branch_development: a table inside · approach_id = B
      6 [B] branch_evaluation: I judge. · approach_id = B · evaluation_score = 6.0
      7 [B-2] branch_evaluation: I judge. · approach_id = B · evaluation_score = 4.0
      8 [B] branch_selection: Chosen with a score of 6. · approach_id = B
      9 [B] continuation_decision: Go on with B.
     10 [B] branch_development: in the rain · approach_id = B
     11 [B-3] branch_development: in the storm · approach_id = B
     12 [B] branch_evaluation: I judge. · approach_id = B · evaluation_score = 1.0
     13 [B-3] branch_evaluation: I judge. · approach_id = B · evaluation_score = 0.0
     14 [B-2] branch_selection: Chosen with a score of 4. · approach_id = B
     15 [B-2] continuation_decision: Go on with B-2.
     16 [B-2] branch_development: by the window · approach_id = B
     17 [B-4] branch_development: by the door · approach_id = B
     18 [B-2] branch_evaluation: I judge. · approach_id = B · evaluation_score = 1.0
     19 [B-4] branch_evaluation: I judge. · approach_id = B · evaluation_score = 1.0
     20 [B-2] branch_selection: None is good enough; this is the best, with a score of 1. · approach_id = B
     21 [B-2] continuation_decision: Try A.
     22 [A] branch_creation: cook · approach_id = A
     23 [A] branch_development: soup · approach_id = A
     24 [A-2] branch_development: salad · approach_id = A
     25 [A] branch_evaluation: I judge. · approach_id = A · evaluation_score = 8.0
     26 [A-2] branch_evaluation: I judge. · approach_id = A · evaluation_score = 2.0
     27 [A] branch_selection: Chosen with a score of 8. · approach_id = A
     28 [A] continuation_decision: Go on with A.
     29 [A] branch_development: hot soup · approach_id = A
     30 [A-3] branch_development: cold soup · approach_id = A
     31 [A] branch_evaluation: I judge. · approach_id = A · evaluation_score = 9.0
     32 [A-3] branch_evaluation: I judge. · approach_id = A · evaluation_score = 3.0
     33 [A] branch_selection: Chosen with a score of 9. · approach_id = A
     34 [A] continuation_decision: `A` has come to its end and is the best.
     35 [A] solution_formulation: hot soup
     36 [A] path_justification: `A` has a score of 9; best of the others: `A-3` 3, `A-2` 2, `B` 1, `B-2` 1, `B-4` 1.
     37 [A] final_response: hot soup
    answer: hot soup
    end: answered
    spent: 17 calls, about 2852 tokens
    "#);

    let pruned = |branch: &&cogwork_strategies::Branch| branch.status() == BranchStatus::Pruned;
    assert_eq!(
        solved
            .trace()
            .session()
            .branches()
            .iter()
            .filter(pruned)
            .count(),
        4
    );
}

#[tokio::test]
async fn best_first_leaves_a_branch_for_an_approach_that_promises_more() {
    let client = ScriptedClient::new([
        r#"approaches: [{"id": "A", "description": "cook", "promise": 9}, {"id": "B", "description": "go out", "promise": 8}]"#,
        "buy rice",
        &judged(7, false),
        "book a table",
        &judged(4, false),
        "cook it",
        &judged(10, true),
        "answer: rice",
    ]);

    let driver = TreeOfThoughts {
        search: Search::BestFirst,
        proposals: 1,
        depth: 5,
        ..small()
    };
    let solved = Solver::new(client, driver).solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: Plan an evening for six.
      2 approach_exploration: Approaches: A, B. · approaches = [{"description":"cook","id":"A","promise":9.0},{"description":"go out","id":"B","promise":8.0}]
      3 [A] branch_creation: cook · approach_id = A
      4 [A] branch_development: buy rice · approach_id = A
      5 [A] branch_evaluation: I judge. · approach_id = A · evaluation_score = 7.0
      6 [A] branch_selection: Chosen with a score of 7. · approach_id = A
      7 [A] continuation_decision: Try B.
      8 [B] branch_creation: go out · approach_id = B
      9 [B] branch_development: book a table · approach_id = B
     10 [B] branch_evaluation: I judge. · approach_id = B · evaluation_score = 4.0
     11 [B] branch_selection: `A` stays the best, with a score of 7. · approach_id = A
     12 [B] continuation_decision: Go on with A.
     13 [A] branch_development: cook it · approach_id = A
     14 [A] branch_evaluation: I judge. · approach_id = A · evaluation_score = 10.0
     15 [A] branch_selection: Chosen with a score of 10. · approach_id = A
     16 [A] continuation_decision: `A` holds the solution.
     17 [A] solution_formulation: rice
     18 [A] path_justification: `A` has a score of 10 and is solved; best of the others: `B` 4.
     19 [A] final_response: rice
    answer: rice
    end: answered
    spent: 8 calls, about 1064 tokens
    "#);
}
