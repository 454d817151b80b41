//! Runs that end without a solution, or that a bound ends.

use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, ScriptedClient, async_trait,
};
use cogwork_strategies::{
    EndReason, Limits, Search, SessionLimit, Solver, StrategyName, TreeOfThoughts,
};

use super::{PROBLEM, TWO, judged, small};
use crate::methods::support::{conversation, told};

#[tokio::test]
async fn when_nothing_is_left_the_run_gives_up() {
    let client = ScriptedClient::new([TWO.to_owned(), "none".to_owned()])
        .then("- a\n- b")
        .then(judged(1, false).as_str())
        .then(judged(0, true).as_str());
    let driver = TreeOfThoughts {
        search: Search::DepthFirst,
        ..small()
    };
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

    let ended = |budget: Limits| async move {
        let driver = TreeOfThoughts {
            proposals: 1,
            ..small()
        };
        let solved = Solver::new(replies(), driver)
            .with_limits(budget)
            .solve(PROBLEM)
            .await
            .unwrap();

        format!(
            "{}: {}",
            solved.end(),
            solved.answer().unwrap_or("(none)").replace('\n', ", ")
        )
    };

    let budget = Limits::default().with_conclude(false);
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
    insta::assert_snapshot!(error, @"stage `approach_exploration`: no reply could be used: line 1, `/approaches/0/promise`: found the number 11; expected a number from 0 to 10");
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

    [user] That reply cannot be used: line 1, `/approaches`: found the text "cook, or go out"; expected a list of objects with description, id, promise.
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
    let widest = TreeOfThoughts {
        search: Search::BreadthFirst {
            beam_width: usize::MAX,
        },
        approaches: usize::MAX,
        proposals: usize::MAX,
        depth: usize::MAX,
        ..TreeOfThoughts::default()
    };

    let budget = Limits::default()
        .with_calls(100_000)
        .with_thoughts(100_000)
        .with_tokens(u64::MAX);
    let solved = Solver::new(Endless, widest.clone())
        .with_limits(budget)
        .solve(PROBLEM)
        .await
        .unwrap();

    let full = EndReason::SessionFull {
        limit: SessionLimit::Branches,
        most: 1_000,
    };
    assert_eq!(solved.end(), &full);
    assert!(solved.answer().unwrap().starts_with("way 0\nstep 0"));

    let solved = Solver::new(Endless, widest)
        .with_limits(Limits::default().with_conclude(false))
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
