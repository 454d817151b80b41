//! Servers that refuse a form: this is remembered by all questions, runs and clones.

use cogwork_llm::{
    Capabilities, Capability, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply,
};
use cogwork_strategies::{Asked, Call, Format, Limits, Solver, StrategyName};

use super::scripts::{PROBLEM, replies, solver};

fn refusal() -> ScriptedReply {
    LlmError::new(LlmErrorKind::InvalidRequest, "response_format is unknown")
        .with_status(400)
        .into()
}

fn client(refused: usize, runs: usize) -> ScriptedClient {
    let refusals = (0..refused).map(|_| refusal());
    let replies: Vec<_> = (0..runs)
        .flat_map(|_| replies(StrategyName::ChainOfThought))
        .map(ScriptedReply::from)
        .collect();

    let schema = Capabilities::none()
        .with(Capability::JsonSchema)
        .with(Capability::JsonMode);
    ScriptedClient::new(refusals.chain(replies)).with_capabilities(schema)
}

fn formats(calls: &[Call]) -> Vec<(Format, usize)> {
    calls
        .iter()
        .filter_map(|call| match call {
            Call::Model(Asked {
                format, refusals, ..
            }) => Some((*format, refusals.len())),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn a_refusal_is_remembered_for_the_next_questions_runs_and_clones() {
    let client = client(2, 2);
    let first = solver(StrategyName::ChainOfThought, client.clone());
    let second = first.clone();

    let solved = first.solve(PROBLEM).await.unwrap();
    assert_eq!(
        formats(solved.trace().calls()),
        [(Format::Json, 2), (Format::Json, 0), (Format::Json, 0)]
    );
    // Refused requests are calls, too.
    assert_eq!(solved.spent().calls, 5);

    let solved = second.solve(PROBLEM).await.unwrap();
    assert_eq!(formats(solved.trace().calls()), [(Format::Json, 0); 3]);
    assert_eq!(client.requests().len(), 8);
}

#[tokio::test]
async fn the_question_and_its_place_in_the_conversation_have_the_form_that_was_accepted() {
    let client = client(3, 1);
    let solver = solver(StrategyName::ChainOfThought, client.clone());
    solver.solve(PROBLEM).await.unwrap();

    let requests = client.requests();
    let accepted: Vec<_> = requests[3].messages().iter().collect();
    let next: Vec<_> = requests[4].messages().iter().collect();
    assert!(next.starts_with(&accepted));
    assert!(
        accepted
            .last()
            .unwrap()
            .text()
            .contains("each name at the beginning of a line")
    );
    assert!(
        requests[2]
            .messages()
            .last()
            .unwrap()
            .text()
            .contains("JSON")
    );
}

#[tokio::test]
async fn the_rung_and_the_refusals_are_kept_in_an_error() {
    let replies = [refusal(), "no".into(), "no".into(), "no".into()];
    let schema = Capabilities::none().with(Capability::JsonSchema);
    let client = ScriptedClient::new(replies).with_capabilities(schema);

    let solver = Solver::new(client, StrategyName::StepBack);
    let error = solver.solve(PROBLEM).await.unwrap_err();

    let calls = error.so_far().unwrap().calls();
    assert_eq!(formats(calls), [(Format::FlatSchema, 1)]);
    insta::assert_snapshot!(format!("{error:#}"), @r#"
    stage `abstraction`: no reply could be used: line 1: the reply has no JSON object; expected a JSON object with `thought`, `question`, `principle`
    the reply:
    no
    "#);
}

#[tokio::test]
async fn a_ladder_that_is_exhausted_by_the_budget_ends_the_run() {
    let solver = solver(StrategyName::ChainOfThought, client(3, 1))
        .with_limits(Limits::default().with_calls(2));
    let solved = solver.solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(solved.end(), @"the budget of 2 calls is spent");
}

/// A program that sets a format itself gets what it asked for.
#[tokio::test]
async fn a_format_of_the_request_is_kept() {
    use cogwork_llm::{ChatRequest, ReplyFormat};

    let client = client(0, 1);
    let request = ChatRequest::default().with_format(ReplyFormat::Json);
    let solver = solver(StrategyName::ChainOfThought, client.clone()).with_request(request);
    solver.solve(PROBLEM).await.unwrap();

    for request in client.requests() {
        assert_eq!(request.format(), Some(&ReplyFormat::Json));
    }
}
