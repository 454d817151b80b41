//! The limits on tokens and bytes hold, whatever a server counts.

use std::time::Duration;

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_flow::RunError;
use cogwork_llm::{ChatRequest, ChatResponse, ScriptedClient, Usage};
use cogwork_typed::ask::{Limit, Limits, Spent};
use proptest::prelude::*;

use crate::node::sequences::{Answer, Circle};
use crate::node::support::{EARLY, FIRST, LAST, PROSE, SECOND, cot_error, run_alone, solve};

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let texts = vec![FIRST, SECOND, FIRST, SECOND, LAST, EARLY, PROSE];
    let text = prop::sample::select(texts).prop_map(str::to_owned);
    let text = prop::option::weighted(0.95, text);
    let answer = (text, (0_u64..12_000).prop_map(Some), Just(false));
    prop::collection::vec(answer, 1..8)
}

fn limits() -> impl Strategy<Value = Limits> {
    let tokens = prop_oneof![0_u64..5_000, 0_u64..60_000];
    let bytes = prop_oneof![3 => Just(u64::MAX), 1 => 0_u64..100_000];
    (tokens, bytes, 0_u32..8, 0_u64..20).prop_map(|(tokens, bytes, thoughts, seconds)| {
        Limits::default()
            .with_tokens(tokens)
            .with_bytes(bytes)
            .with_thoughts(thoughts)
            .with_time(Duration::from_secs(seconds))
    })
}

/// Everything that was spent, also in a turn that failed.
fn all_spent(reasoning: &Reasoning, ended: &Result<(), RunError>) -> Spent {
    let mut spent = reasoning.spent();
    if let Err(error) = ended {
        spent += cot_error(error).trace().spent;
    }
    spent
}

proptest! {
    /// With a model that follows `max_tokens`, no limit is exceeded.
    #[test]
    fn an_obedient_model_never_exceeds_a_limit(answers in answers(), limits in limits()) {
        let client = Circle::new(answers).obedient();
        let node = ChainOfThought::new(client).with_limits(limits);
        let (reasoning, ended) = run_alone(node);
        let spent = all_spent(&reasoning, &ended);

        prop_assert!(spent.tokens() <= limits.tokens.unwrap());
        prop_assert!(spent.time <= limits.time.unwrap());
        prop_assert!(reasoning.thoughts().len() <= limits.thoughts.unwrap() as usize);
    }
}

#[tokio::test]
async fn a_request_never_asks_for_more_than_is_left() {
    let first = ChatResponse::new(FIRST).with_usage(Usage::new(1_500, 500));
    let client = ScriptedClient::new([first, ChatResponse::new(LAST)]);
    let limits = Limits::default().with_tokens(12_000);
    let node = ChainOfThought::new(client.clone()).with_limits(limits);
    solve(node.clone()).await;

    for (request, left) in client.requests().iter().zip([12_000, 10_000]) {
        let most = u64::from(request.max_tokens().unwrap());
        assert!(most + request.estimated_tokens() <= left);
    }

    // A lower setting stays.
    let client = ScriptedClient::new([LAST]);
    let request = ChatRequest::default().with_max_tokens(600);
    let node = ChainOfThought::new(client.clone())
        .with_limits(limits)
        .with_request(request);
    solve(node).await;
    assert_eq!(client.requests()[0].max_tokens(), Some(600));
}

#[tokio::test]
async fn bytes_end_a_run_whose_server_reports_too_few_tokens() {
    let cheap = |text| ChatResponse::new(text).with_usage(Usage::new(1, 1));
    let client = ScriptedClient::new([cheap(FIRST), cheap(SECOND), cheap(EARLY), cheap(LAST)]);
    let limits = Limits::default().with_bytes(16_000);
    let node = ChainOfThought::new(client.clone()).with_limits(limits);

    let reasoning = solve(node).await;

    let limit = Limit::Bytes(16_000);
    assert_eq!(reasoning.cut_short().unwrap().limit, limit);
    assert!(reasoning.spent().bytes <= 16_000);
    assert!(reasoning.thoughts().len() < 4);
}
