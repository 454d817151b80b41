//! Replies that a method cannot use are asked for again, with what was wrong.

use cogwork_llm::ScriptedClient;
use cogwork_strategies::methods::{ChainOfThoughtMethod, Rewoo};
use cogwork_strategies::{Method, Solver, StrategyName};

use super::support::{complaints, scripted};

/// Returns what is wrong with the replies that are followed by better ones.
async fn wrong(method: impl Into<Box<dyn Method>>, replies: &[&str]) -> String {
    let (solver, _) = scripted(method, replies.iter().copied());
    let solved = solver.with_asks_again(9).solve("p").await.unwrap();
    complaints(&solved)
}

#[tokio::test]
async fn steps_and_checks() {
    let steps = "- step\n".repeat(6);
    let replies = [
        &steps,
        "- one\n- two\n- three",
        "answer: 7",
        "results: 1\nanswer: 7",
        "holds: no",
        "holds: certainly",
        "holds: yes",
    ];
    let method = ChainOfThoughtMethod {
        max_steps: 5,
        ..ChainOfThoughtMethod::default()
    };
    insta::assert_snapshot!(wrong(method, &replies).await, @r#"
    `steps` has 6 items, expected at most 5
    line 1: `results` is missing; expected a list of texts
    `answer` is missing, expected the right answer, since the solution does not hold
    line 1, `/holds`: found the text "certainly"; expected true or false
    "#);

    let replies = [
        "",
        "question: What is a gas?",
        "question: q\nprinciple: p",
        "approach: a\napplication: b\nsolution: c\nanswer: 7",
        "holds: yes",
    ];
    insta::assert_snapshot!(wrong(StrategyName::StepBack, &replies).await, @"
    line 1: the reply is empty; expected lines with `thought: …`, `question: …`, `principle: …`
    line 1: `principle` is missing; expected a text
    ");
}

#[tokio::test]
async fn numbers_and_names_of_thoughts_and_branches() {
    let replies = [
        "thought: Tens and ones.\nthoughts_needed: 0",
        "thought: Tens and ones.\nthoughts_needed: 2",
        "10 * 3 is 40.",
        "next: onward",
        "next: thought_revision",
        "thought: 30.\nrevises_thought: 99",
        "thought: 30.\nrevises_thought: 4",
        "thought: 30.\nrevises_thought: 3",
        "next: branch_creation",
        "branch_from_thought: 60\nbranch_id: other",
        "branch_from_thought: 3\nbranch_id: main",
        "branch_from_thought: 3\nbranch_id: other",
        "30 + 21 = 51.",
        "next: hypothesis_generation",
        "51",
        "verification: 51 / 3 = 17.\nholds: yes",
        "51",
    ];
    insta::assert_snapshot!(wrong(StrategyName::Linear, &replies).await, @"
    line 2, `/thoughts_needed`: found the number 0; expected an integer from 1 to 1000
    `next` is `onward`, expected `thought_adjustment`, `branch_creation`, `hypothesis_generation` or `thought_revision`
    `revises_thought` is 99, expected one of the thoughts 2, 3
    `revises_thought` is 4, expected one of the thoughts 2, 3
    `branch_from_thought` is 60, expected one of the thoughts 1, 2, 3, 4, 5, 6
    `main` cannot be the name of a branch; expected 1 to 64 characters that no branch has yet
    ");
}

#[tokio::test]
async fn actions_and_questions() {
    let replies = [
        "I would look.",
        "action: finish",
        "action: finish[]",
        // It may be a version or a price rather than the number 1.1.
        "action: finish\naction_input: 1.10",
    ];
    let (solver, _) = scripted(StrategyName::React, replies);
    let solved = solver.with_asks_again(9).solve("p").await.unwrap();
    assert_eq!(solved.answer(), Some("1.10"));
    insta::assert_snapshot!(complaints(&solved), @"
    line 1: `action` is missing; expected one of height, minus, finish
    `action_input` is missing, expected the answer, since the action is `finish`
    `action_input` is missing, expected the answer, since the action is `finish`
    ");

    let replies = ["", "thought: Hm.", "sub_question: When?", "answer: Truman"];
    insta::assert_snapshot!(wrong(StrategyName::SelfAsk, &replies).await, @"
    line 1: the reply is empty; expected lines with `thought: …`, `sub_question: …`, `sub_question_answer: …`, `answer: …`
    the reply has neither `sub_question` nor `answer`, expected one
    `sub_question_answer` is missing, expected the answer to `When?`
    ");
}

#[tokio::test]
async fn plans_that_cannot_be_carried_out() {
    let deep = format!(
        "Plan: Dig.\n#E1 = height{}{}",
        "[".repeat(34),
        "]".repeat(34)
    );
    let replies = [
        "",
        "I would look it up.",
        "Plan: Search.\n#E1 = search[K2]",
        "Plan: Subtract.\n#E1 = minus{\"a\": \"#E2\"}\nPlan: Find.\n#E2 = height[K2]",
        "Plan: Find.\n#E1 = height[K2]\nPlan: Find.\n#E2 = height[#E3]",
        "Plan: Find.\n#E1 = height[#E1]",
        "Plan: Find.\n#E1 = height[K2]\n#E1 = height[K3]",
        &deep,
        "#E1 = height[a]\n#E2 = height[a]\n#E3 = height[a]\n#E4 = height[a]",
        "#E1 = height[a]",
        "183 m",
    ];
    insta::assert_snapshot!(wrong(Rewoo { max_calls: 3 }, &replies).await, @"
    the reply is empty; expected a text
    there is no call; expected a line such as `#E1 = tool[input]`
    `#E1` calls `search`; expected `height` or `minus`
    `#E1` uses `#E2`; expected no evidence, since it is the first
    `#E2` uses `#E3`; expected `#E1`
    `#E1` uses `#E1`; expected no evidence, since it is the first
    `#E1` is used twice; expected a different name for each call
    the input of `#E1` has too many levels; expected fewer
    the plan has 4 steps and 4 calls; expected at most 100 and 3
    ");
}

#[tokio::test]
async fn values_of_variables() {
    let replies = [
        "",
        "state_variables: all of them",
        r#"state_variables: {"total": 0}"#,
        "state_variables: {\"total\": 1}\ndone: perhaps",
        "state_variables: {\"total\": 51}\ndone: yes",
        "answer: 51",
    ];
    insta::assert_snapshot!(wrong(StrategyName::Scratchpad, &replies).await, @r#"
    line 1: the reply is empty; expected lines with `thought: …`, `state_variables: …`
    line 1, `/state_variables`: found the text "all of them"; expected an object with any keys
    line 2, `/done`: found the text "perhaps"; expected true or false
    "#);

    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let replies = [
        &format!("state_variables: {{\"x\": {deep}}}"),
        "state_variables: {\"x\": 1}",
        "done: yes",
        "1",
    ];
    insta::assert_snapshot!(wrong(StrategyName::Scratchpad, &replies).await, @r#"
    line 1, `/state_variables`: found the text "{"x": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…"; expected an object with any keys
    "#);
}

#[tokio::test]
async fn approaches_of_a_tree() {
    let replies = [
        "approaches: cook, or go out",
        r#"approaches: [{"id": " ", "description": "", "promise": 5}]"#,
        r#"approaches: [{"id": "A", "description": "cook", "promise": 11}]"#,
    ];
    let (solver, _) = scripted(StrategyName::TreeOfThoughts, replies);
    let error = solver.solve("p").await.unwrap_err();
    insta::assert_snapshot!(complaints(error.so_far().unwrap()), @r#"
    line 1, `/approaches`: found the text "cook, or go out"; expected a list of objects with description, id, promise
    `approaches` has none with an id and a description
    line 1, `/approaches/0/promise`: found the number 11; expected a number from 0 to 10
    "#);
}

#[tokio::test]
async fn a_plan_without_tools() {
    let solver = Solver::new(ScriptedClient::default(), StrategyName::Rewoo);
    let error = solver.solve("p").await.unwrap_err().to_string();
    insta::assert_snapshot!(error, @"stage `problem_reception`: the strategy `rewoo` plans with tools, and there are none; add one or more with `Solver::with_tools`");
}
