//! Chain of thought: steps, results, a check.

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{Asked, Call, ChainOfThoughtMethod, Limits, Solver, StrategyName};

use crate::methods::support::{conversation, only_append, told};

#[tokio::test]
async fn steps_results_and_check_are_three_calls() {
    let client = ScriptedClient::new([
        "1. Multiply the tens.\n2. Multiply the ones.\n3. Add.",
        "Thought: 17 is 10 and 7.\nResults:\n1. 30\n2. 28\n3. 58\nAnswer: 58",
        "**Thought:** 58 / 3 is no whole number, since 7 * 3 = 21.\n**Holds:** No\n**Answer:** 51",
    ]);

    let solved = Solver::new(client.clone(), StrategyName::ChainOfThought)
        .solve("17 * 3?")
        .await
        .unwrap();
    insta::assert_snapshot!(told(&solved), @"
      1 problem_reception: 17 * 3?
      2 step_decomposition: The steps:
      3 step_decomposition: Multiply the tens.
      4 step_decomposition: Multiply the ones.
      5 step_decomposition: Add.
      6 sequential_reasoning: 17 is 10 and 7.
      7 sequential_reasoning: 30
      8 sequential_reasoning: 28
      9 sequential_reasoning: 58
     10 solution_formulation: 58
     11 answer_verification: 58 / 3 is no whole number, since 7 * 3 = 21.
     12 final_response: 51
    answer: 51
    end: answered
    spent: 3 calls, about 701 tokens
    ");

    insta::assert_snapshot!(solved.trace().plan().unwrap().outline(), @"
    - [Done] Multiply the tens.: 30
    - [Done] Multiply the ones.: 28
    - [Verification Needed] Add.: 58 (the check gave a different answer)
    ");

    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(client.requests().last().unwrap()), @"
    [system] You solve a problem in small stages. Take the problem apart into steps, reason through them in order, and check the answer. Wei et al. 2022.
    Each message asks for one stage. Do what it asks and nothing else.

    [user] The problem:
    17 * 3?

    Take the problem apart into steps, in the order in which they are to be done.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    steps: the steps (a list that is not empty, each item on a line of its own that begins with -)

    [assistant] 1. Multiply the tens.
    2. Multiply the ones.
    3. Add.

    [user] Work through the steps one by one. Show how each follows from those before it.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    results: what each step gives, in the order of the steps (a list that is not empty, each item on a line of its own that begins with -)
    answer: the answer to the problem, short and complete (a text)

    [assistant] Thought: 17 is 10 and 7.
    Results:
    1. 30
    2. 28
    3. 58
    Answer: 58

    [user] Check the solution against the problem, by another way where there is one.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    holds: whether the solution holds (true or false)
    answer: the right answer, if it does not hold (a text, may be left out)
    ");
}

#[tokio::test]
async fn a_wrong_form_is_asked_for_again_with_the_complaint() {
    let steps = "- step\n".repeat(6);
    let client = ScriptedClient::new([
        steps.as_str(),
        "- one\n- two\n- three",
        "answer: 7",
        "results: 1\nanswer: 7",
        "holds: no",
        "holds: certainly",
        "holds: yes",
    ]);

    let solver = Solver::new(
        client,
        ChainOfThoughtMethod {
            max_steps: 5,
            ..ChainOfThoughtMethod::default()
        },
    );
    let solved = solver.solve("3 + 4?").await.unwrap();
    let complaints = solved.trace().calls().iter().flat_map(|call| match call {
        Call::Model(Asked { tries, .. }) => tries
            .iter()
            .filter_map(|one| one.complaint.as_deref())
            .collect(),
        Call::Tool(_) => Vec::new(),
        _ => Vec::new(),
    });

    insta::assert_snapshot!(complaints.collect::<Vec<_>>().join("\n"), @r#"
    `steps` has 6 items, expected at most 5
    line 1: `results` is missing; expected a list of texts
    `answer` is missing, expected the right answer, since the solution does not hold
    line 1, `/holds`: found the text "certainly"; expected true or false
    "#);

    // Missing results need verification.
    insta::assert_snapshot!(solved.trace().plan().unwrap().outline(), @"
    - [Done] one: 1
    - [Verification Needed] two (the model gave no result)
    - [Verification Needed] three (the model gave no result)
    ");
}

#[tokio::test]
async fn a_budget_spent_in_the_middle_leaves_the_answer_unchecked() {
    let ended = |calls| async move {
        let client = ScriptedClient::new([
            "- one\n- two",
            "results:\n- 3\n- 4\nanswer: 7",
            "holds: no\nanswer: 8",
        ]);

        let solver = Solver::new(client, ChainOfThoughtMethod::default())
            .with_limits(Limits::default().with_calls(calls).with_conclude(false));
        let solved = solver.solve("3 + 4?").await.unwrap();
        let progress = solved
            .trace()
            .plan()
            .map(|plan| plan.progress().to_string());

        format!(
            "{}: {}, {}",
            solved.end(),
            solved.answer().unwrap_or("(none)"),
            progress.unwrap_or_default()
        )
    };
    insta::assert_snapshot!([ended(0).await, ended(1).await, ended(2).await, ended(3).await].join("\n"), @"
    the budget of 0 calls is spent: (none), 
    the budget of 1 calls is spent: (none), 0 of 2 steps done
    the budget of 2 calls is spent: 7, 2 of 2 steps done
    answered: 8, 1 of 2 steps done, 1 to verify
    ");
}

#[tokio::test]
async fn an_endless_reply_is_refused_and_an_empty_one_too() {
    let client = ScriptedClient::new(["", &"- a\n".repeat(70_000), &"- a\n".repeat(1_000)]);
    let error = Solver::new(client, StrategyName::ChainOfThought)
        .solve("3 + 4?")
        .await
        .unwrap_err();
    let Some(Call::Model(Asked { tries, .. })) = error.so_far().unwrap().calls().last() else {
        panic!("no call")
    };

    let complaints: Vec<_> = tries
        .iter()
        .filter_map(|one| one.complaint.as_deref())
        .collect();
    insta::assert_snapshot!(complaints.join("\n"), @"
    line 1: the reply is empty; expected lines with `thought: …`, `steps: …`
    line 1: the reply has 280000 bytes; expected at most 262144
    `steps` has 1000 items, expected at most 20
    ");
}
