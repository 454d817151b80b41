//! Runs that end at a limit without a conclusion. The thoughts are kept, so the run can continue with a
//! higher limit.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_flow::RunError;
use cogwork_flow::nodes::Phase;
use cogwork_llm::{ChatResponse, LlmClient, ScriptedClient, ScriptedReply, Usage};
use cogwork_typed::ask::{Limit, Limits};
use insta::assert_snapshot;

use crate::node::support::{FIRST, LAST, PROSE, SECOND, Stateless, cot_error, reasoning};

/// Goes on with a reasoning, which fails at its limits.
async fn limited(
    client: impl LlmClient + 'static,
    limits: Limits,
    reasoning: &mut Reasoning,
) -> Result<(), RunError> {
    let node = ChainOfThought::new(client).with_limits(limits.with_conclude(false));
    node.into_flow().run(reasoning).await.map(drop)
}

#[tokio::test]
async fn each_run_has_its_own_limits_which_are_not_saved() {
    let client = ScriptedClient::new([FIRST, LAST, LAST]);
    let flow = ChainOfThought::new(client).into_flow();
    let mut limited = reasoning().with_limits(Limits::default().with_thoughts(2));

    let saved = serde_json::to_string(&limited).unwrap();
    assert_eq!(saved, serde_json::to_string(&reasoning()).unwrap());

    flow.run(&mut limited).await.unwrap();
    assert_eq!(limited.cut_short().unwrap().limit, Limit::Thoughts(2));

    let mut unlimited = reasoning();
    flow.run(&mut unlimited).await.unwrap();
    assert!(unlimited.is_complete());
}

/// A reply that took 10,000 tokens and ten seconds.
fn slow(text: &str) -> ScriptedReply {
    let response = ChatResponse::new(text).with_usage(Usage::new(2_000, 8_000));
    ScriptedReply::from(response).after(Duration::from_secs(10))
}

#[tokio::test]
async fn a_model_that_never_ends_is_stopped_after_fifty_thoughts() {
    let client = Arc::new(Stateless::new(&[FIRST, SECOND]));
    let mut reasoning = reasoning();
    let ended = limited(Arc::clone(&client), Limits::default(), &mut reasoning).await;

    let error = ended.unwrap_err();
    assert_snapshot!(error, @"flow `chain of thought`, node `think`: prep failed: thought 51: the limit of 50 thoughts was reached without a conclusion; the thoughts are kept, so the run can continue with a higher limit");
    assert_eq!(error.phase(), Some(Phase::Prep));
    assert_eq!(cot_error(&error).limit(), Some(Limit::Thoughts(50)));
    assert_eq!(client.calls.load(Ordering::Relaxed), 50);
    assert!(reasoning.spent().tokens() > 0);
    assert_eq!(reasoning.solution(), None);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_held_against_their_limit_before_each_request() {
    let mut reasoning = reasoning();
    let client = ScriptedClient::new([slow(FIRST), slow(SECOND), slow(LAST)]);
    let limits = |tokens| Limits::default().with_tokens(tokens);
    let made = |reasoning: &Reasoning| (reasoning.thoughts().len(), reasoning.spent().tokens());

    let ended = limited(client.clone(), limits(15_000), &mut reasoning).await;
    let limit = Some(Limit::Tokens(15_000));
    assert_eq!(cot_error(&ended.unwrap_err()).limit(), limit);
    assert_eq!(made(&reasoning), (2, 20_000));

    let ended = limited(client, limits(25_000), &mut reasoning).await;
    ended.unwrap();
    assert_eq!(made(&reasoning), (3, 30_000));
}

#[tokio::test(start_paused = true)]
async fn time_ends_a_run_in_the_middle_of_a_call_and_keeps_the_replies_so_far() {
    let mut reasoning = reasoning();
    let hanging = ScriptedReply::from(SECOND).after(Duration::from_secs(3600));
    let client = ScriptedClient::new([slow(FIRST), slow(PROSE), hanging, slow(LAST)]);
    let started = tokio::time::Instant::now();
    let limit = Duration::from_secs(25);
    let limits = Limits::default().with_time(limit);
    let ended = limited(client.clone(), limits, &mut reasoning).await;

    assert_eq!(started.elapsed(), limit);
    let error = ended.unwrap_err();
    assert_snapshot!(error, @"flow `chain of thought`, node `think`: exec failed: thought 2: the limit of 25s was reached without a conclusion; the thoughts are kept, so the run can continue with a higher limit");
    let error = cot_error(&error);
    assert_eq!(error.limit(), Some(Limit::Time(limit)));
    let trace = error.trace();
    assert_eq!(
        (trace.tries.len(), trace.tries[0].reply.as_str()),
        (1, PROSE)
    );
    assert_eq!(trace.spent.time, Duration::from_secs(15));
    assert_eq!(trace.spent.tokens(), 10_000);
    assert_eq!(reasoning.thoughts().len(), 1);

    reasoning.charge(error);
    assert_eq!(reasoning.spent().time, limit);
    let limits = Limits::default().with_time(limit * 2);
    limited(client, limits, &mut reasoning).await.unwrap();
    assert!(reasoning.solution().is_some());
}

#[tokio::test(start_paused = true)]
async fn an_hour_is_the_default_time_and_no_time_is_too_long() {
    let slow = || ScriptedReply::from(LAST).after(Duration::from_secs(4000));
    let client = || ScriptedClient::new([slow()]);
    let ended = limited(client(), Limits::default(), &mut reasoning()).await;
    let hour = Limit::Time(Duration::from_secs(3600));
    assert_eq!(cot_error(&ended.unwrap_err()).limit(), Some(hour));

    let limits = Limits::default().with_time(Duration::MAX);
    let limits = limits.with_tokens(u64::MAX).with_thoughts(u32::MAX);
    let ended = limited(client(), limits, &mut reasoning()).await;
    ended.unwrap();
}

#[tokio::test]
async fn limits_of_nothing_make_no_call() {
    for (limits, limit) in [
        (Limits::default().with_thoughts(0), "0 thoughts"),
        (Limits::default().with_tokens(0), "0 tokens"),
        (Limits::default().with_time(Duration::ZERO), "0ns"),
    ] {
        let client = ScriptedClient::new([LAST]);
        let ended = limited(client.clone(), limits, &mut reasoning()).await;
        let error = ended.unwrap_err();
        assert_eq!(cot_error(&error).limit().unwrap().to_string(), limit);
        assert_eq!(client.requests().len(), 0);
    }
}
