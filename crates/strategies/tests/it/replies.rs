//! Reading replies: in the requested form, and as models write them instead.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_llm::ScriptedClient;
use cogwork_strategies::table::{Parameter, ParameterType};
use cogwork_strategies::{Ask, Solve, Solver, StrategyName};
use cogwork_typed::ask::Format;

fn ask() -> Ask {
    Ask::new("Go on.")
}

/// A question for an action, a score and the next stage.
fn form() -> Ask {
    let strategy = StrategyName::React.strategy();
    let next = strategy.stage("evaluation_checkpoint").unwrap();
    let score = Parameter::new(
        ParameterType::Integer {
            min: Some(0.0),
            max: Some(10.0),
        },
        "how good",
    );

    ask()
        .with_field("action", Parameter::text("what is done"))
        .with_field("score", score)
        .with_field("remark", Parameter::text("what else there is").optional())
        .with_next(strategy.next(next))
}

/// Returns the message with which a question is asked.
async fn asked(ask: Ask) -> String {
    let method = move |cx: &mut Solve| {
        cx.ask("problem_reception", ask.clone())?;
        Ok("asked".into())
    };
    let client = ScriptedClient::default();
    let solver = Solver::new(client.clone(), (StrategyName::React.strategy(), method));
    solver.solve("p").await.unwrap_err();

    let request = client.requests().pop().unwrap();
    let message = request.messages().last().unwrap().text();
    message
        .strip_prefix("The problem:\np\n\n")
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn the_form_is_told_in_the_order_of_its_fields() {
    insta::assert_snapshot!(asked(form()).await, @"
    Go on.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    action: what is done (a text)
    score: how good (an integer from 0 to 10)
    remark: what else there is (a text, may be left out)
    next: the name of the stage that is next, one of
      action_planning (The choice of the next action.)
      solution_formulation (The solution that follows from the observations.)
    ");
}

#[test]
fn a_reply_that_cannot_be_used_is_told_all_that_is_wrong() {
    let replies = [
        "",
        "I have no idea.",
        "action: look\nscore: 80\nnext: action_planning",
        "action: look\nscore: eight\nnext: home",
        "action:\nscore: 8\nnext: action_planning or solution_formulation",
        "{\"action\": [1], \"score\": {}, \"next\": 3}",
        "{\"action\": \"look\", ",
        "<think>I never end",
    ];

    let form = form();
    let problems = replies.map(|reply| form.read_on(Format::Text, reply).unwrap_err());
    insta::assert_snapshot!(problems.join("\n"), @r#"
    line 1: the reply is empty; expected lines with `thought: …`, `action: …`, `score: …`, `remark: …`, `next: …`
    line 1: `action` is missing; expected a text; `score` is missing; expected an integer from 0 to 10; `next` is missing; expected one of action_planning, solution_formulation
    line 2, `/score`: found the number 80; expected an integer from 0 to 10
    line 2, `/score`: found the text "eight"; expected an integer from 0 to 10
    line 1: `action` is missing; expected a text
    line 1, `/score`: found an object; expected an integer from 0 to 10
    line 1: the reply ends inside the value; expected all of it
    line 1: `action` is missing; expected a text; `score` is missing; expected an integer from 0 to 10; `next` is missing; expected one of action_planning, solution_formulation
    "#);

    let long = form.read_on(Format::Text, &"a".repeat(300_000));
    assert_eq!(
        long.unwrap_err(),
        "line 1: the reply has 300000 bytes; expected at most 262144"
    );
}
