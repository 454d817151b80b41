//! Servers that refuse a form: this is remembered by all questions, runs and clones.

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{LlmError, LlmErrorKind, ReplyFormat, ScriptedClient, ScriptedReply};
use cogwork_strategies::{Asked, Call, Solving, StrategyName};
use cogwork_typed::ask::Format;

use super::scripts::{PROBLEM, replies, solver};

fn client(refused: usize, replies: &[&'static str]) -> ScriptedClient {
    let refusals = (0..refused).map(|_| {
        let refusal = LlmError::new(LlmErrorKind::InvalidRequest, "response_format is unknown");
        ScriptedReply::from(refusal.with_status(400))
    });
    let replies = replies.iter().map(|&reply| reply.into());
    let json = Capabilities::none().with(Capability::JsonSchema);
    ScriptedClient::new(refusals.chain(replies)).with_capabilities(json.with(Capability::JsonMode))
}

/// Returns the form of each reply, and how many were refused before it.
fn formats(trace: &Solving) -> Vec<(Format, usize)> {
    let calls = trace.calls().iter().filter_map(|call| match call {
        Call::Model(Asked { log, .. }) => Some((log.format, log.refusals.len())),
        _ => None,
    });
    calls.collect()
}

#[tokio::test]
async fn a_refusal_is_remembered_for_the_next_questions_runs_and_clones() {
    let replies = replies(StrategyName::ChainOfThought).repeat(2);
    let client = client(2, &replies);
    let first = solver(StrategyName::ChainOfThought, client.clone());
    let second = first.clone();

    let solved = first.solve(PROBLEM).await.unwrap();
    let refused = [(Format::Json, 2), (Format::Json, 0), (Format::Json, 0)];
    assert_eq!(formats(&solved), refused);
    // Refused requests are calls, too.
    assert_eq!(solved.spent().calls, 5);

    let solved = second.solve(PROBLEM).await.unwrap();
    assert_eq!(formats(&solved), [(Format::Json, 0); 3]);
    assert_eq!(client.requests().len(), 8);
}

/// A program that sets a format itself gets what it asked for.
#[tokio::test]
async fn a_format_of_the_request_is_kept() {
    let client = client(0, &replies(StrategyName::ChainOfThought));
    let request = cogwork_llm::ChatRequest::default().with_format(ReplyFormat::Json);
    let solver = solver(StrategyName::ChainOfThought, client.clone()).with_request(request);
    solver.solve(PROBLEM).await.unwrap();

    for request in client.requests() {
        assert_eq!(request.format(), Some(&ReplyFormat::Json));
    }
}
