//! The limits on tokens and bytes hold, whatever a server counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_cot::{
    ChainOfThought, ChatRequest, ChatResponse, Limit, Limits, LlmClient, LlmError, LlmErrorKind,
    Reasoning, ReasoningEnd, RunError, ScriptedClient, Spent, Usage, async_trait,
};
use proptest::prelude::*;

use crate::node::support::{EARLY, FIRST, LAST, PROSE, SECOND, cot_error, reasoning, solve};

/// Follows `max_tokens`, and counts tokens as they are estimated.
#[derive(Clone)]
struct Obedient {
    /// The replies, with the tokens that each would take. `None` is a failed call.
    replies: Vec<Option<(&'static str, u64)>>,
    calls: Arc<AtomicUsize>,
}

/// What an obedient model writes at most if it isn't told how much it may.
const UNTOLD: u64 = 8_192;

#[async_trait]
impl LlmClient for Obedient {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let reply = self.replies[call % self.replies.len()];
        let (text, written) =
            reply.ok_or_else(|| LlmError::new(LlmErrorKind::Server, "on fire"))?;

        let most = request.max_tokens().map_or(UNTOLD, u64::from);
        let usage = Usage::new(request.estimated_tokens(), written.min(most));
        Ok(ChatResponse::new(text).with_usage(usage))
    }
}

fn replies() -> impl Strategy<Value = Vec<Option<(&'static str, u64)>>> {
    let text = prop::sample::select(vec![FIRST, SECOND, FIRST, SECOND, LAST, EARLY, PROSE]);
    let reply = prop::option::weighted(0.95, (text, 0_u64..12_000));
    prop::collection::vec(reply, 1..8)
}

fn limits() -> impl Strategy<Value = Limits> {
    let tokens = prop_oneof![0_u64..5_000, 0_u64..60_000];
    let bytes = prop_oneof![3 => Just(u64::MAX), 1 => 0_u64..100_000];
    let reserve = prop::option::of(0_u64..3_000);
    (tokens, bytes, 0_u32..8, 0_u64..20, reserve).prop_map(
        |(tokens, bytes, thoughts, seconds, reserve)| {
            let mut limits = Limits::default()
                .with_tokens(tokens)
                .with_bytes(bytes)
                .with_thoughts(thoughts)
                .with_time(Duration::from_secs(seconds));
            limits.reserve_tokens = reserve;
            limits
        },
    )
}

fn run(client: &Obedient, limits: Limits) -> (Reasoning, Result<(), RunError>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let flow = ChainOfThought::new(client.clone())
        .with_limits(limits)
        .into_flow();

    let mut reasoning = reasoning();
    let ended = runtime.block_on(flow.run(&mut reasoning));
    (reasoning, ended.map(drop))
}

/// Everything that was spent, also in a turn that failed.
fn all_spent(reasoning: &Reasoning, ended: &Result<(), RunError>) -> Spent {
    let mut spent = reasoning.spent();
    if let Err(error) = ended {
        spent += cot_error(error).spent();
    }
    spent
}

proptest! {
    /// With a model that follows `max_tokens`, no limit is exceeded.
    #[test]
    fn an_obedient_model_never_exceeds_a_limit(replies in replies(), limits in limits()) {
        let client = Obedient { replies, calls: Arc::default() };
        let (reasoning, ended) = run(&client, limits);
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
    assert_eq!(reasoning.end_reason(), Some(ReasoningEnd::Limit(limit)));
    assert!(reasoning.spent().bytes <= 16_000);
    assert!(reasoning.thoughts().len() < 4);
}
