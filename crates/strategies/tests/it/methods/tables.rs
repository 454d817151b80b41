//! The default driver, which asks the model in each stage.

use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_strategies::{Asked, Call, Solver, Strategies, StrategyName};

use crate::methods::support::{conversation, ended, kind_of, only_append, told};

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
async fn an_empty_reply_is_asked_for_again_and_then_an_error_with_all_that_was_said() {
    let client = ScriptedClient::new(["1. Tens.", "", "  ", "<think>hm"]);
    let error = Solver::new(client, StrategyName::ChainOfThought.strategy())
        .solve("17 * 3?")
        .await
        .unwrap_err();
    insta::assert_snapshot!(error, @"stage `sequential_reasoning`: no reply could be used: the reply is empty; expected a text");

    let so_far = error.so_far().unwrap();
    assert_eq!(so_far.session().thoughts().len(), 2);
    assert_eq!(so_far.spent().calls, 4);
    let Some(Call::Model(Asked { log, .. })) = so_far.calls().last() else {
        panic!("no call")
    };
    let replies: Vec<&str> = log.tries.iter().map(|one| &*one.reply).collect();
    assert_eq!(replies, ["", "  ", "<think>hm"]);
}

#[tokio::test]
async fn a_failing_client_ends_the_run_and_loses_nothing() {
    let client =
        ScriptedClient::new(["1. Tens."]).then(LlmError::new(LlmErrorKind::Quota, "no money"));
    let error = Solver::new(client, StrategyName::ChainOfThought.strategy())
        .solve("17 * 3?")
        .await
        .unwrap_err();
    insta::assert_snapshot!(error, @"stage `sequential_reasoning`: the call to the model failed: quota: no money");
    assert_eq!(kind_of(&error), Some(LlmErrorKind::Quota));
    assert_eq!(error.so_far().unwrap().session().thoughts().len(), 2);

    let empty = Solver::new(steps(), StrategyName::ChainOfThought.strategy())
        .solve(" ")
        .await
        .unwrap_err();
    insta::assert_snapshot!(empty, @"the problem is empty; expected a text");
}

/// A model may continue to write forms, and the answer is still found.
#[tokio::test]
async fn a_form_where_none_was_asked_for_does_not_get_into_the_answer() {
    let last = "thought: Both together.\nanswer: 51\nThat is 3 * 17.";
    let replies = ["thought: Tens and ones.", "**Answer:** 30 and 21", last];
    let strategies = Strategies::from_yaml(
        "plain:
  description: Plain.
  stages:
    a: {description: A., prompt: A., next: [b]}
    b: {description: B., prompt: B., next: [c]}
    c: {description: C., prompt: C., next: [d]}
    d: {description: D., prompt: D., final: true}",
    );

    let strategy = strategies.unwrap().get("plain").unwrap().clone();
    let solved = Solver::new(ScriptedClient::new(replies), strategy)
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
    spent: 3 calls, about 145 tokens
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
        let table = format!("own:\n  description: Own.\n  stages:\n    {stages}");
        let strategies = Strategies::from_yaml(&table).unwrap();
        let strategy = strategies.get("own").unwrap().clone();
        let solver = Solver::new(ScriptedClient::new([again; 3]), strategy);
        ends.push(ended(&solver.solve("17 * 3?").await.unwrap()));
    }
    insta::assert_snapshot!(ends.join("\n"), @"
    answered: 50, next: b
    no progress: the thoughts repeated 3 times up to the stage `b`: 50
    ");
}
