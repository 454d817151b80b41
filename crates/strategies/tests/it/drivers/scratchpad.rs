//! Scratchpad: variables and steps.

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{Call, Scratchpad, Solver, StrategyName};

use crate::drivers::support::{conversation, only_append, told};

const PROBLEM: &str = "What is 12 + 30 + 9?";

#[tokio::test]
async fn the_model_names_the_variables_and_reads_the_result() {
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

    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(&client.requests()[1]), @r#"
    [system] You solve a problem with a scratchpad of named variables: you do one step of the calculation at a time and say which variables it changes; the program keeps them.

    [user] The problem:
    Twice 3 apples?

    Name the variables you will keep, and the value each begins with.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    state_variables: the variables and their values (an object, as JSON)

    [assistant] state_variables: {"apples": 3}

    [user] The scratchpad: {"apples":3}

    Do the next step of the calculation with the values on the scratchpad.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    state_variables: the variables that the step changes, with their new values (an object, as JSON, may be left out)
    done: whether the scratchpad contains the result now (true or false)
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
    let Some(Call::Model { tries, .. }) = solved.trace().calls().first() else {
        panic!("no call")
    };

    let complaints: Vec<_> = tries
        .iter()
        .filter_map(|one| one.complaint.as_deref())
        .collect();
    insta::assert_snapshot!(complaints.join("\n"), @"
    there are 65 variables; expected at most 64
    `state_variables.x` is more than 32 levels, expected JSON of at most 32 levels
    the variables have 70008 bytes; expected at most 65536
    the name `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn` is too long; expected at most 64 characters
    ");
}

#[tokio::test]
async fn steps_that_change_nothing_are_no_progress_and_steps_without_end_have_one() {
    let start = r#"state_variables: {"total": 0, "left": []}"#.to_owned();
    let same = (0..9).map(|turn| format!("thought: Hm {turn}.\ndone: no"));
    let client = ScriptedClient::new([start.clone()].into_iter().chain(same));
    let solved = Solver::new(client, Scratchpad::new())
        .solve(PROBLEM)
        .await
        .unwrap();

    assert_eq!(
        (solved.end().to_string().as_str(), solved.answer()),
        (
            "no progress: the thoughts repeated 3 times up to the stage `state_tracking`",
            None
        )
    );

    let next = (1..6).map(|turn| format!("state_variables: {{\"total\": {turn}}}\ndone: no"));
    let replies = [start].into_iter().chain(next).chain(["5".to_owned()]);
    let client = ScriptedClient::new(replies);
    let solved = Solver::new(client, Scratchpad::new().with_max_steps(5))
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!((solved.answer(), solved.spent().calls), (Some("5"), 7));
    assert!(solved.is_answered());
}
