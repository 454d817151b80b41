//! Scratchpad: variables and steps.

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{
    Asked, Call, Limits, Parameter, ParameterType, Scratchpad, Solver, StrategyName,
};

use crate::methods::support::{conversation, only_append, told};

fn number() -> ParameterType {
    ParameterType::Number {
        min: None,
        max: None,
    }
}

fn sum() -> Scratchpad {
    Scratchpad {
        variables: vec![
            (
                "total".to_owned(),
                Parameter::new(number(), "the sum so far"),
            ),
            (
                "left".to_owned(),
                Parameter::new(
                    ParameterType::List {
                        items: Box::new(number()),
                        min_items: 0,
                    },
                    "what is to be added",
                ),
            ),
        ],
        result: Some("total".to_owned()),
        ..Scratchpad::default()
    }
}

const PROBLEM: &str = "What is 12 + 30 + 9?";
const REPLIES: [&str; 4] = [
    r#"state_variables: {"total": 0, "left": [12, 30, 9]}"#,
    "thought: 0 + 12 = 12.\nstate_variables: {\"total\": \"12\", \"left\": [30, 9]}\ndone: no",
    "thought: 12 + 30 = 42.\nstate_variables:\n- total = 42\n- left = [9]\ndone: no",
    "thought: 42 + 9 = 51.\nstate_variables: {\"total\": 51, \"left\": []}\ndone: yes",
];

#[tokio::test]
async fn a_step_is_one_question_and_the_result_none() {
    let client = ScriptedClient::new(REPLIES);
    let solved = Solver::new(client.clone(), sum())
        .solve(PROBLEM)
        .await
        .unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: What is 12 + 30 + 9?
      2 scratchpad_initialization: The scratchpad to begin with. · state_variables = {"left":[12,30,9],"total":0}
      3 iterative_calculation: 0 + 12 = 12.
      4 state_tracking: The scratchpad after the step. · state_variables = {"left":[30,9],"total":12}
      5 continuation_decision: Another step is needed.
      6 iterative_calculation: 12 + 30 = 42.
      7 state_tracking: The scratchpad after the step. · state_variables = {"left":[9],"total":42}
      8 continuation_decision: Another step is needed.
      9 iterative_calculation: 42 + 9 = 51.
     10 state_tracking: The scratchpad after the step. · state_variables = {"left":[],"total":51}
     11 continuation_decision: The result is there.
     12 result_extraction: 51
     13 final_response: 51
    answer: 51
    end: answered
    spent: 4 calls, about 1292 tokens
    "#);

    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(&client.requests()[2]), @r#"
    [system] You solve a problem with a scratchpad of named variables: you do one step of the calculation at a time and say which variables it changes; the program keeps them.

    The variables:
    - total: a number, the sum so far
    - left: a list, what is to be added
    There are no others.
    The result must be in `total`.

    [user] The problem:
    What is 12 + 30 + 9?

    Give the value that each variable begins with; null where it has none yet.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    state_variables: the variables and their values (an object, as JSON)

    [assistant] state_variables: {"total": 0, "left": [12, 30, 9]}

    [user] The scratchpad: {"left":[12,30,9],"total":0}

    Do the next step of the calculation with the values on the scratchpad.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    state_variables: the variables that the step changes, with their new values (an object, as JSON, may be left out)
    done: whether the scratchpad contains the result now (true or false)

    [assistant] thought: 0 + 12 = 12.
    state_variables: {"total": "12", "left": [30, 9]}
    done: no

    [user] The scratchpad: {"left":[30,9],"total":12}

    Do the next step of the calculation with the values on the scratchpad.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    state_variables: the variables that the step changes, with their new values (an object, as JSON, may be left out)
    done: whether the scratchpad contains the result now (true or false)
    "#);
}

#[tokio::test]
async fn without_variables_of_its_own_the_model_names_them_and_reads_the_result() {
    let client = ScriptedClient::new([
        "state_variables: {\"apples\": 3}",
        "thought: Twice.\nstate_variables: {\"apples\": 6, \"note\": \"doubled\"}\ndone: yes",
        "6 apples",
    ]);

    let solved = Solver::new(client.clone(), StrategyName::Scratchpad)
        .solve("Twice 3 apples?")
        .await
        .unwrap();
    insta::assert_snapshot!(told(&solved), @r#"
      1 problem_reception: Twice 3 apples?
      2 scratchpad_initialization: The scratchpad to begin with. · state_variables = {"apples":3}
      3 iterative_calculation: Twice.
      4 state_tracking: The scratchpad after the step. · state_variables = {"apples":6,"note":"doubled"}
      5 continuation_decision: The result is there.
      6 result_extraction: 6 apples
      7 final_response: 6 apples
    answer: 6 apples
    end: answered
    spent: 3 calls, about 594 tokens
    "#);
}

#[tokio::test]
async fn wrong_values_are_asked_for_again() {
    let complaint = |driver: Scratchpad, replies: [&'static str; 2], bad: &'static str| async move {
        let place = if bad.contains("done") { 1 } else { 0 };
        let mut replies = replies.to_vec();
        replies.insert(place, bad);
        let solved = Solver::new(ScriptedClient::new(replies), driver)
            .solve(PROBLEM)
            .await
            .unwrap();

        assert_eq!(solved.answer(), Some("51"));
        let of = |call: &Call| match call {
            Call::Model(Asked { tries, .. }) => tries[0].complaint.clone(),
            _ => None,
        };
        solved.trace().calls().iter().find_map(of).unwrap()
    };

    let total = || Scratchpad {
        variables: vec![("total".to_owned(), Parameter::new(number(), ""))],
        result: Some("total".to_owned()),
        ..Scratchpad::default()
    };

    let right = [
        r#"state_variables: {"total": null}"#,
        "state_variables: {\"total\": 51}\ndone: yes",
    ];
    let complaints = [
        complaint(total(), right, "").await,
        complaint(total(), right, "state_variables: all of them").await,
        complaint(total(), right, "state_variables: {\"total\": []}").await,
        complaint(total(), right, "state_variables: {\"sum\": 1}").await,
        complaint(total(), right, "state_variables: {}").await,
        complaint(total(), right, "done: yes").await,
        complaint(
            total(),
            right,
            "state_variables: {\"total\": \"many\", \"x\": 1}\ndone: no",
        )
        .await,
        complaint(
            total(),
            right,
            "state_variables: {\"total\": 1}\ndone: perhaps",
        )
        .await,
        complaint(
            Scratchpad {
                other_variables: Some(true),
                ..total()
            },
            right,
            "state_variables: {\"x\": 1}",
        )
        .await,
    ];

    insta::assert_snapshot!(complaints.join("\n"), @r#"
    line 1: the reply is empty; expected lines with `thought: …`, `state_variables: …`
    line 1, `/state_variables`: found the text "all of them"; expected an object with any keys
    `state_variables.total` is a list, expected a number
    `sum` is not a variable; expected `total`
    `state_variables.total` is missing, expected a number or null
    `done` is true, but `total` has no value yet; expected one
    `x` is not a variable; expected `total`
    line 2, `/done`: found the text "perhaps"; expected true or false
    `state_variables.total` is missing, expected a number or null
    "#);
}

#[tokio::test]
async fn the_variables_are_bounded() {
    let many = |count: usize| {
        let fields: Vec<_> = (0..count)
            .map(|number| format!("\"v{number}\": 1"))
            .collect();
        format!("state_variables: {{{}}}", fields.join(", "))
    };

    let deep = format!(
        "state_variables: {{\"x\": {}1{}}}",
        "[".repeat(100),
        "]".repeat(100)
    );

    let long = format!("state_variables: {{\"x\": \"{}\"}}", "a".repeat(70_000));
    let name = format!("state_variables: {{\"{}\": 1}}", "n".repeat(65));
    let client = ScriptedClient::new([
        many(65),
        deep,
        long,
        name,
        many(64),
        "done: yes".to_owned(),
        "1".to_owned(),
    ]);

    let solver = Solver::new(client, StrategyName::Scratchpad).with_asks_again(4);
    let solved = solver.solve(PROBLEM).await.unwrap();
    let Some(Call::Model(Asked { tries, .. })) = solved.trace().calls().first() else {
        panic!("no call")
    };

    let complaints: Vec<_> = tries
        .iter()
        .filter_map(|one| one.complaint.as_deref())
        .collect();
    insta::assert_snapshot!(complaints.join("\n"), @r#"
    there are 65 variables; expected at most 64
    line 1, `/state_variables`: found the text "{"x": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…"; expected an object with any keys
    the variables have 70008 bytes; expected at most 65536
    the name `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn` is too long; expected at most 64 characters
    "#);
}

#[tokio::test]
async fn a_budget_spent_in_the_middle_leaves_the_variable_as_it_stands() {
    let ended = |calls| async move {
        let solver = Solver::new(ScriptedClient::new(REPLIES), sum())
            .with_limits(Limits::default().with_calls(calls).with_conclude(false));
        let solved = solver.solve(PROBLEM).await.unwrap();
        format!("{}: {}", solved.end(), solved.answer().unwrap_or("(none)"))
    };
    insta::assert_snapshot!([ended(0).await, ended(1).await, ended(3).await, ended(4).await].join("\n"), @"
    the budget of 0 calls is spent: (none)
    the budget of 1 calls is spent: 0
    the budget of 3 calls is spent: 42
    answered: 51
    ");
}

#[tokio::test]
async fn steps_that_change_nothing_are_no_progress_and_steps_without_end_have_one() {
    let start = r#"state_variables: {"total": 0, "left": []}"#.to_owned();
    let same = (0..9).map(|turn| format!("thought: Hm {turn}.\ndone: no"));
    let client = ScriptedClient::new([start.clone()].into_iter().chain(same));
    let solved = Solver::new(client, sum()).solve(PROBLEM).await.unwrap();

    assert_eq!(
        (solved.end().to_string().as_str(), solved.answer()),
        (
            "no progress: the thoughts repeated 3 times up to the stage `state_tracking`",
            Some("0")
        )
    );

    let next = (1..50).map(|turn| format!("state_variables: {{\"total\": {turn}}}\ndone: no"));
    let client = ScriptedClient::new([start].into_iter().chain(next));
    let solved = Solver::new(
        client,
        Scratchpad {
            max_steps: 5,
            ..sum()
        },
    )
    .solve(PROBLEM)
    .await
    .unwrap();
    assert_eq!((solved.answer(), solved.spent().calls), (Some("5"), 6));
    assert!(solved.is_answered());
}

#[tokio::test]
async fn a_result_that_is_no_variable_is_an_error() {
    let driver = Scratchpad {
        result: Some("sum".to_owned()),
        ..sum()
    };
    let error = Solver::new(ScriptedClient::default(), driver)
        .solve(PROBLEM)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `problem_reception`: the result variable `sum` is not defined; expected `total` or `left`"
    );
}
