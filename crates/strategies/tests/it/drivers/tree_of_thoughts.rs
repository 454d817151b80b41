//! Tree of thoughts: approaches as branches that are developed, scored, followed or pruned.

use std::time::Duration;

use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply,
    async_trait,
};
use cogwork_strategies::{
    BranchStatus, Search, SolveBudget, Solver, StrategyName, TreeOfThoughts, Worth,
};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::drivers::support::{conversation, told};

const PROBLEM: &str = "Plan an evening for six.";
const TWO: &str = r#"approaches: [{"id": "A", "description": "cook", "promise": 5}, {"id": "B", "description": "go out", "promise": 8}]"#;

fn judged(score: u32, solved: bool) -> String {
    format!("thought: I judge.\nevaluation_score: {score}\nsolved: {solved}")
}

fn small() -> TreeOfThoughts {
    TreeOfThoughts::new()
        .with_approaches(2)
        .with_proposals(2)
        .with_depth(2)
}

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

    let solved = Solver::new(client, small().with_search(Search::DepthFirst))
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

    let driver = small()
        .with_search(Search::BestFirst)
        .with_proposals(1)
        .with_depth(5);
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

    let solved = Solver::new(client.clone(), small().with_depth(1).with_votes(3))
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

    let driver = small()
        .with_search(Search::DepthFirst)
        .with_proposals(1)
        .with_depth(1)
        .with_values(3);

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

#[tokio::test]
async fn when_nothing_is_left_the_run_gives_up() {
    let client = ScriptedClient::new([TWO.to_owned(), "none".to_owned()])
        .then("- a\n- b")
        .then(judged(1, false).as_str())
        .then(judged(0, true).as_str());
    let driver = small().with_search(Search::DepthFirst);
    let solved = Solver::new(client, driver).solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: Plan an evening for six.
      2 approach_exploration: Approaches: B, A. · approaches = [{"description":"go out","id":"B","promise":8.0},{"description":"cook","id":"A","promise":5.0}]
      3 [B] branch_creation: go out · approach_id = B
      4 [B] branch_creation: No step is left to take.
      5 [A] branch_creation: cook · approach_id = A
      6 [A] branch_development: a · approach_id = A
      7 [A-2] branch_development: b · approach_id = A
      8 [A] branch_evaluation: I judge. · approach_id = A · evaluation_score = 1.0
      9 [A-2] branch_evaluation: I judge. · approach_id = A · evaluation_score = 0.0
     10 [A] branch_selection: None is good enough; this is the best, with a score of 1. · approach_id = A
     11 [A] continuation_decision: every approach was tried, and no branch with a score of 2 or more is left
    answer: (none)
    end: given up: every approach was tried, and no branch with a score of 2 or more is left
    spent: 5 calls, about 808 tokens
    "#);
}

#[tokio::test]
async fn a_branch_whose_question_fails_is_given_up_and_the_others_go_on() {
    let client = ScriptedClient::new([TWO.to_owned()])
        .then(LlmError::new(LlmErrorKind::Server, "overloaded"))
        .then("- buy rice\n- buy noodles")
        .then(LlmError::new(LlmErrorKind::Server, "overloaded"))
        .then(judged(8, true).as_str())
        .then("answer: noodles");

    let solved = Solver::new(client, small()).solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: Plan an evening for six.
      2 approach_exploration: Approaches: B, A. · approaches = [{"description":"go out","id":"B","promise":8.0},{"description":"cook","id":"A","promise":5.0}]
      3 [B] branch_creation: go out · approach_id = B
      4 [A] branch_creation: cook · approach_id = A
      5 [B] branch_creation: No step could be taken: server: overloaded
      6 [A] branch_development: buy rice · approach_id = A
      7 [A-2] branch_development: buy noodles · approach_id = A
      8 [A] branch_development: This could not be judged: server: overloaded
      9 [A-2] branch_evaluation: I judge. · approach_id = A · evaluation_score = 8.0
     10 [A-2] branch_selection: Chosen with a score of 8. · approach_id = A
     11 [A-2] continuation_decision: `A-2` holds the solution.
     12 [A-2] solution_formulation: noodles
     13 [A-2] path_justification: `A-2` has a score of 8 and is solved; it is the only branch.
     14 [A-2] final_response: noodles
    answer: noodles
    end: answered
    spent: 6 calls, about 608 tokens
    "#);
}

#[tokio::test]
async fn a_spent_budget_leaves_the_best_branch() {
    let replies = || {
        ScriptedClient::new([
            TWO.to_owned(),
            "book a table".to_owned(),
            "buy rice".to_owned(),
            judged(3, false),
            judged(6, false),
            "dine".to_owned(),
            "boil it".to_owned(),
            judged(5, false),
        ])
    };

    let ended = |budget: SolveBudget| async move {
        let driver = small().with_proposals(1);
        let solved = Solver::new(replies(), driver)
            .with_budget(budget)
            .solve(PROBLEM)
            .await
            .unwrap();

        format!(
            "{}: {}",
            solved.end(),
            solved.answer().unwrap_or("(none)").replace('\n', ", ")
        )
    };

    let budget = SolveBudget::default().with_conclude(false);
    let ends = [
        ended(budget.with_calls(0)).await,
        ended(budget.with_calls(1)).await,
        ended(budget.with_calls(3)).await,
        ended(budget.with_calls(5)).await,
        ended(budget.with_calls(7)).await,
        ended(budget.with_calls(8)).await,
        ended(budget.with_thoughts(9)).await,
    ];

    insta::assert_snapshot!(ends.join("\n"), @"
    the budget of 0 calls is spent: (none)
    the budget of 1 calls is spent: (none)
    the budget of 3 calls is spent: (none)
    the budget of 5 calls is spent: cook, buy rice
    the budget of 7 calls is spent: cook, buy rice
    the budget of 8 calls is spent: cook, buy rice
    the budget of 9 thoughts is spent: cook, buy rice
    ");
}

#[tokio::test]
async fn a_form_that_is_not_kept_is_asked_for_again() {
    let client = ScriptedClient::new([
        "approaches: cook, or go out",
        r#"approaches: [{"id": " ", "description": "", "promise": 5}]"#,
        r#"approaches: [{"id": "A", "description": "cook", "promise": 11}]"#,
    ]);

    let error = Solver::new(client.clone(), StrategyName::TreeOfThoughts)
        .solve(PROBLEM)
        .await
        .unwrap_err();
    insta::assert_snapshot!(error, @"stage `approach_exploration`: no reply could be used: `approaches[0].promise` is 11, expected a number from 0 to 10");
    let last = client.requests().pop().unwrap();
    insta::assert_snapshot!(conversation(&last), @r#"
    [system] You solve a problem by a tree of thoughts: several ways are tried, each step by step, and the best is followed. Each message asks for one part of that work. Do what it asks and nothing else.

    [user] The problem:
    Plan an evening for six.

    Name 3 approaches that differ, and how much each promises, from 0 to 10.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    approaches: The approaches. (a list that is not empty, as a JSON array of objects {description: a text, id: a text, promise: a number from 0 to 10})

    [assistant] approaches: cook, or go out

    [user] That reply cannot be used: `approaches` is the text "cook, or go out", expected a list that is not empty.
    Write the whole reply again, in the form that was asked for.

    [assistant] approaches: [{"id": " ", "description": "", "promise": 5}]

    [user] That reply cannot be used: `approaches` has none with an id and a description.
    Write the whole reply again, in the form that was asked for.
    "#);
}

/// A model that always proposes more steps and scores them highly.
struct Endless;

#[async_trait]
impl LlmClient for Endless {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request
            .messages()
            .last()
            .map(|message| message.text().to_owned())
            .unwrap_or_default();

        let length = asked.len();
        Ok(ChatResponse::new(if asked.contains("\napproaches:") {
            let approach =
                |n: usize| format!(r#"{{"id": "a{n}", "description": "way {n}", "promise": 7}}"#);
            format!(
                "approaches: [{}]",
                (0..500).map(approach).collect::<Vec<_>>().join(", ")
            )
        } else if asked.contains("\nevaluation_score:") {
            judged(7, false)
        } else if asked.contains("\nproposals:") {
            (0..60)
                .map(|n| format!("- step {n} after {length} {}\n", "x".repeat(n % 50)))
                .collect()
        } else {
            "answer: enough".to_owned()
        }))
    }
}

#[tokio::test]
async fn an_endless_model_meets_the_bounds() {
    let widest = TreeOfThoughts::new()
        .with_search(Search::BreadthFirst {
            beam_width: usize::MAX,
        })
        .with_approaches(usize::MAX)
        .with_proposals(usize::MAX)
        .with_depth(usize::MAX);

    let budget = SolveBudget::default()
        .with_calls(100_000)
        .with_thoughts(100_000)
        .with_tokens(u64::MAX);
    let solved = Solver::new(Endless, widest.clone())
        .with_budget(budget)
        .solve(PROBLEM)
        .await
        .unwrap();

    assert_eq!(
        (solved.end().to_string().as_str(), solved.answer()),
        ("answered", Some("enough"))
    );

    // The session limits the forks, and the beam continues without them.
    assert_eq!(solved.trace().session().branches().len(), 1_000);

    let solved = Solver::new(Endless, widest)
        .with_budget(SolveBudget::default().with_conclude(false))
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(
        solved.end().to_string(),
        "the budget of 500 thoughts is spent"
    );
    assert!(solved.answer().unwrap().starts_with("way 0\nstep 0"));
    let solved = Solver::new(Endless, StrategyName::TreeOfThoughts)
        .solve(PROBLEM)
        .await
        .unwrap();

    assert_eq!(
        (solved.answer(), solved.spent().calls),
        (Some("enough"), 26)
    );
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

/// A model that replies at random, mostly in the requested form.
struct Random(std::sync::Mutex<u64>);

impl Random {
    fn below(&self, bound: u64) -> u64 {
        let mut state = self.0.lock().unwrap();

        // A xorshift generator. The numbers only need to be reproducible.
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;

        *state % bound
    }
}

#[async_trait]
impl LlmClient for Random {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request
            .messages()
            .last()
            .map(|message| message.text().to_owned())
            .unwrap_or_default();

        if self.below(20) == 0 {
            return Err(LlmError::new(LlmErrorKind::Server, "overloaded"));
        }

        let some = |item: &dyn Fn(u64) -> String| {
            (0..self.below(5))
                .map(|_| item(self.below(6)))
                .collect::<Vec<_>>()
        };

        let yes = if self.below(8) == 0 { "yes" } else { "no" };
        Ok(ChatResponse::new(if asked.contains("\napproaches:") {
            let one = |n: u64| {
                format!(
                    r#"{{"id": "a{n}", "description": "way {n}", "promise": {}}}"#,
                    self.below(11)
                )
            };
            format!("approaches: [{}]", some(&one).join(", "))
        } else if asked.contains("\nevaluation_score:") {
            format!("evaluation_score: {}\nsolved: {yes}", self.below(11))
        } else if asked.contains("\nchoice:") {
            format!("choice: {}\nsolved: {yes}", self.below(4))
        } else if asked.contains("\nproposals:") {
            format!("proposals: {}", some(&|n| format!("\n- step {n}")).concat())
        } else if asked.contains("\nanswer:") {
            "answer: done".to_owned()
        } else {
            format!("step {}", self.below(9))
        }))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The session refuses illegal moves, so a run without an error made none on any branch.
    #[test]
    fn any_search_with_any_model_ends_in_good_order(
        seed in 1u64..,
        search in prop_oneof![
            (1usize..4).prop_map(|beam_width| Search::BreadthFirst { beam_width }),
            Just(Search::DepthFirst),
            Just(Search::BestFirst),
        ],
        (approaches, proposals, depth, votes) in (1usize..4, 1usize..4, 1usize..4, 0usize..3),
        threshold in 0.0..6.0,
        calls in 1u32..60,
    ) {
        let driver = TreeOfThoughts::new().with_search(search).with_threshold(threshold);
        let driver = driver.with_approaches(approaches).with_proposals(proposals).with_depth(depth);
        let driver = if votes > 0 { driver.with_votes(votes) } else { driver };
        let solver = Solver::new(Random(std::sync::Mutex::new(seed)), driver).with_budget(SolveBudget::default().with_calls(calls));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        match runtime.block_on(solver.solve(PROBLEM)) {
            Ok(solved) if solved.is_answered() => prop_assert_eq!(solved.answer(), Some("done")),
            Ok(solved) => {
                let end = solved.end().to_string();
                prop_assert!(end.starts_with("given up: every approach") || end.ends_with("calls is spent"), "{}", end);
            }
            // All questions of a round failed.
            Err(error) => prop_assert!(error.client_error().is_some() || error.is_unreadable(), "{:?}", error),
        }
    }
}
