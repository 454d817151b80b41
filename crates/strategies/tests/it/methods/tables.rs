//! The default driver, which asks the model in each stage.

use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_strategies::{Solver, StrategyName};

use crate::methods::support::{conversation, ended, only_append, told};
use crate::support::strategy;

fn steps() -> ScriptedClient {
    ScriptedClient::new([
        "1. Tens.\n2. Ones.",
        "30 and 21.",
        "51.",
        "51 / 3 = 17.",
        "51",
    ])
}

#[tokio::test]
async fn each_stage_is_asked_for_in_one_growing_conversation() {
    let client = steps();
    let solved = Solver::new(client.clone(), StrategyName::ChainOfThought.strategy())
        .solve("17 * 3?")
        .await
        .unwrap();
    insta::assert_snapshot!(told(&solved), @"
      1 problem_reception: 17 * 3?
      2 step_decomposition: 1. Tens. 2. Ones.
      3 sequential_reasoning: 30 and 21.
      4 solution_formulation: 51.
      5 answer_verification: 51 / 3 = 17.
      6 final_response: 51
    answer: 51
    end: answered
    spent: 5 calls, about 592 tokens
    ");

    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(&client.requests()[1]), @"
    [system] You solve a problem in small stages. Take the problem apart into steps, reason through them in order, and check the answer. Wei et al. 2022.
    Each message asks for one stage. Do what it asks and nothing else.

    [user] The problem:
    17 * 3?

    Take the problem apart into steps, in the order in which they are to be done.

    [assistant] 1. Tens.
    2. Ones.

    [user] Work through the steps one by one. Show how each follows from those before it.
    ");
}

#[tokio::test]
async fn an_error_has_all_that_was_said_before_it() {
    let quota = LlmError::new(LlmErrorKind::Quota, "no money");
    let unusable = ScriptedClient::new(["1. Tens.", "", "  ", "<think>hm"]);
    let failing = ScriptedClient::new(["1. Tens."]).then(quota);

    let mut errors = Vec::new();
    for (client, problem) in [(unusable, "17 * 3?"), (failing, "17 * 3?"), (steps(), " ")] {
        let solver = Solver::new(client, StrategyName::ChainOfThought.strategy());
        let error = solver.solve(problem).await.unwrap_err();
        let said = error.so_far().map(|so_far| {
            let thoughts = so_far.session().thoughts().len();
            format!(" ({thoughts} thoughts, {})", so_far.spent())
        });
        errors.push(format!("{error}{}", said.unwrap_or_default()));
    }
    insta::assert_snapshot!(errors.join("\n"), @"
    stage `sequential_reasoning`: no reply could be used: the reply is empty; expected a text (2 thoughts, 4 calls, about 476 tokens)
    stage `sequential_reasoning`: the call to the model failed: quota: no money (2 thoughts, 2 calls, about 79 tokens)
    the problem is empty; expected a text (0 thoughts, 0 calls, 0 tokens)
    ");
}

/// A model may continue to write forms, and the answer is still found.
#[tokio::test]
async fn a_form_where_none_was_asked_for_does_not_get_into_the_answer() {
    let last = "thought: Both together.\nanswer: 51\nThat is 3 * 17.";
    let replies = ["thought: Tens and ones.", "**Answer:** 30 and 21", last];
    let stages = "a: {description: A., prompt: A., next: [b]}
        b: {description: B., prompt: B., next: [c]}
        c: {description: C., prompt: C., next: [d]}
        d: {description: D., prompt: D., final: true}";

    let plain = strategy("plain", stages);
    let solved = Solver::new(ScriptedClient::new(replies), plain)
        .solve("17 * 3?")
        .await
        .unwrap();
    insta::assert_snapshot!(told(&solved), @"
      1 a: 17 * 3?
      2 b: Tens and ones.
      3 c: 30 and 21
      4 d: 51 That is 3 * 17.
    answer: 51
    That is 3 * 17.
    end: answered
    spent: 3 calls, about 142 tokens
    ");
}

#[tokio::test]
async fn a_single_stage_is_asked_for_and_a_circle_ends_with_the_last_thought() {
    let single = "only: {description: All., prompt: Answer., final: true}";
    let circle = "a: {description: A., prompt: A., next: [b]}
    b: {description: B., prompt: B., next: [b, c]}
    c: {description: C., prompt: C., final: true}";
    let again = "thought: 50\nnext: b";

    let mut ends = Vec::new();
    for stages in [single, circle] {
        let own = strategy("own", stages);
        let solver = Solver::new(ScriptedClient::new([again; 3]), own);
        ends.push(ended(&solver.solve("17 * 3?").await.unwrap()));
    }
    insta::assert_snapshot!(ends.join("\n"), @"
    answered: 50, next: b
    no progress: the thoughts repeated 3 times up to the stage `b`: 50
    ");
}
