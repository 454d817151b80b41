//! Runs that end at a limit without a conclusion. The thoughts are kept, so the run can continue with a
//! higher limit.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use cogwork_cot::{
    ChainOfThought, ChatRequest, ChatResponse, Flow, Limit, Limits, LlmClient, LlmError, Reasoning,
    ScriptedClient, Usage, async_trait,
};
use cogwork_flow::Phase;
use cogwork_llm::ScriptedReply;

use crate::node::support::{FIRST, LAST, PROSE, SECOND, Stateless, cot_error, reasoning};

/// A flow that fails at its limits.
fn limited(client: impl LlmClient + 'static, limits: Limits) -> Flow<Reasoning> {
    let limits = limits.with_conclude(false);
    ChainOfThought::new(client).with_limits(limits).into_flow()
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
    let error = limited(Arc::clone(&client), Limits::default())
        .run(&mut reasoning)
        .await
        .unwrap_err();

    assert_eq!(
        error.to_string(),
        "flow `chain of thought`, node `think`: prep failed: thought 51: the limit of 50 thoughts was reached \
         without a conclusion; the thoughts are kept, so the run can continue with a higher limit"
    );

    assert_eq!(error.phase(), Some(Phase::Prep));
    assert_eq!(cot_error(&error).limit(), Some(Limit::Thoughts(50)));
    assert_eq!(client.calls.load(Ordering::Relaxed), 50);
    let numbers: Vec<u32> = reasoning
        .thoughts()
        .iter()
        .map(|thought| thought.thought_number())
        .collect();

    assert_eq!(numbers, (1..=50).collect::<Vec<_>>());
    assert_eq!(
        reasoning.plan().unwrap().progress().to_string(),
        "1 of 3 steps done"
    );
    assert!(reasoning.spent().tokens() > 0);
    assert_eq!(reasoning.solution(), None);
}

#[tokio::test]
async fn a_run_goes_on_under_a_higher_limit_of_thoughts() {
    let mut reasoning = reasoning();
    let client = ScriptedClient::new([FIRST, SECOND, LAST]);
    let error = limited(client.clone(), Limits::default().with_thoughts(2))
        .run(&mut reasoning)
        .await
        .unwrap_err();
    assert_eq!(cot_error(&error).limit(), Some(Limit::Thoughts(2)));
    assert_eq!(client.requests().len(), 2);

    limited(client, Limits::default().with_thoughts(3))
        .run(&mut reasoning)
        .await
        .unwrap();
    assert_eq!(reasoning.thoughts().len(), 3);
    assert!(reasoning.solution().is_some());
}

#[tokio::test]
async fn a_conclusion_in_the_last_thought_allowed_is_a_conclusion() {
    let mut reasoning = reasoning();
    let flow = limited(
        ScriptedClient::new([FIRST, LAST]),
        Limits::default().with_thoughts(2),
    );
    flow.run(&mut reasoning).await.unwrap();
    assert!(reasoning.solution().is_some());

    // Taken up again, a finished run stays finished and meets no limit.
    flow.run(&mut reasoning).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn tokens_are_held_against_their_limit_before_each_request() {
    let mut reasoning = reasoning();
    let client = ScriptedClient::default()
        .then(slow(FIRST))
        .then(slow(SECOND))
        .then(slow(LAST));
    let error = limited(client.clone(), Limits::default().with_tokens(15_000))
        .run(&mut reasoning)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow `chain of thought`, node `think`: prep failed: thought 3: the limit of 15000 tokens was reached \
         without a conclusion; the thoughts are kept, so the run can continue with a higher limit"
    );

    assert_eq!(cot_error(&error).limit(), Some(Limit::Tokens(15_000)));
    assert_eq!(
        (reasoning.thoughts().len(), reasoning.spent().tokens()),
        (2, 20_000)
    );

    limited(client, Limits::default().with_tokens(25_000))
        .run(&mut reasoning)
        .await
        .unwrap();
    assert_eq!(
        (reasoning.thoughts().len(), reasoning.spent().tokens()),
        (3, 30_000)
    );
}

#[tokio::test]
async fn tokens_nobody_counted_are_guessed_from_the_text() {
    // Some servers report zeros.
    let zero = |text: &str| ChatResponse::new(text).with_usage(Usage::new(0, 0));
    for client in [
        ScriptedClient::new([FIRST, SECOND, LAST]),
        ScriptedClient::new([zero(FIRST), zero(SECOND), zero(LAST)]),
    ] {
        let mut reasoning = reasoning();
        let error = limited(client.clone(), Limits::default().with_tokens(1_600))
            .run(&mut reasoning)
            .await
            .unwrap_err();
        assert_eq!(cot_error(&error).limit(), Some(Limit::Tokens(1_600)));
        let read: usize = client.requests()[0]
            .messages()
            .iter()
            .map(|message| message.text().len())
            .sum();

        let spent = reasoning.spent();
        assert_eq!(
            spent.estimated_tokens,
            (read.div_ceil(4) + FIRST.len().div_ceil(4)) as u64
        );
        assert_eq!(
            (spent.usage, spent.tokens()),
            (Usage::default(), spent.estimated_tokens)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_tokens_ends_the_asking_again_too() {
    let mut reasoning = reasoning();
    let client = ScriptedClient::default()
        .then(slow(FIRST))
        .then(slow(PROSE))
        .then(slow(LAST));
    let error = limited(client.clone(), Limits::default().with_tokens(20_000))
        .run(&mut reasoning)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow `chain of thought`, node `think`: exec failed: thought 2: the limit of 20000 tokens was reached \
         without a conclusion; the thoughts are kept, so the run can continue with a higher limit"
    );

    let error = cot_error(&error);
    assert_eq!(
        (error.tries().len(), error.tries()[0].reply.as_str()),
        (1, PROSE)
    );
    assert_eq!(
        (error.spent().tokens(), reasoning.spent().tokens()),
        (10_000, 10_000)
    );
    assert_eq!(
        (client.requests().len(), reasoning.thoughts().len()),
        (2, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_turn_is_charged_to_the_state_by_whoever_goes_on() {
    let mut reasoning = reasoning();
    let client = ScriptedClient::default()
        .then(slow(FIRST))
        .then(slow(PROSE))
        .then(slow(LAST));
    let flow = limited(client.clone(), Limits::default().with_tokens(20_000));
    let error = flow.run(&mut reasoning).await.unwrap_err();

    reasoning.charge(cot_error(&error));
    assert_eq!(
        (reasoning.spent().tokens(), reasoning.spent().time),
        (20_000, Duration::from_secs(20))
    );

    let error = flow.run(&mut reasoning).await.unwrap_err();
    assert_eq!(
        (cot_error(&error).limit(), error.phase()),
        (Some(Limit::Tokens(20_000)), Some(Phase::Prep))
    );
    assert_eq!(client.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn time_ends_a_run_in_the_middle_of_a_call_and_keeps_the_replies_so_far() {
    let mut reasoning = reasoning();
    let client = ScriptedClient::default()
        .then(slow(FIRST))
        .then(slow(PROSE))
        .then(ScriptedReply::from(SECOND).after(Duration::from_secs(3600)))
        .then(slow(LAST));

    let started = tokio::time::Instant::now();
    let limit = Duration::from_secs(25);
    let error = limited(client.clone(), Limits::default().with_time(limit))
        .run(&mut reasoning)
        .await
        .unwrap_err();

    assert_eq!(started.elapsed(), limit);
    assert_eq!(
        error.to_string(),
        "flow `chain of thought`, node `think`: exec failed: thought 2: the limit of 25s was reached without a \
         conclusion; the thoughts are kept, so the run can continue with a higher limit"
    );

    let error = cot_error(&error);
    assert_eq!(error.limit(), Some(Limit::Time(limit)));
    let replies: Vec<_> = error
        .tries()
        .iter()
        .map(|made| made.reply.as_str())
        .collect();

    assert_eq!(replies, [PROSE]);
    assert_eq!(
        (error.spent().time, error.spent().tokens()),
        (Duration::from_secs(15), 10_000)
    );
    assert_eq!(
        (reasoning.thoughts().len(), reasoning.spent().time),
        (1, Duration::from_secs(10))
    );
    assert!(reasoning.plan().is_some());

    reasoning.charge(error);
    assert_eq!(reasoning.spent().time, limit);
    limited(client, Limits::default().with_time(limit * 2))
        .run(&mut reasoning)
        .await
        .unwrap();
    assert!(reasoning.solution().is_some());
}

#[tokio::test(start_paused = true)]
async fn time_ends_the_asking_again_of_a_client_that_never_waits() {
    /// Takes time as a client does that computes: it is ready at its first poll.
    #[derive(Default)]
    struct Blocking(AtomicUsize);

    #[async_trait]
    impl LlmClient for Blocking {
        async fn complete(&self, _: ChatRequest) -> Result<ChatResponse, LlmError> {
            self.0.fetch_add(1, Ordering::Relaxed);

            // The clock moves when the future is first polled.
            let advancing = pin!(tokio::time::advance(Duration::from_millis(20)));
            let polled = advancing.poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            Ok(ChatResponse::new(PROSE))
        }
    }

    let client = Arc::new(Blocking::default());
    let limit = Duration::from_millis(50);
    let limits = Limits::default().with_time(limit).with_conclude(false);
    let node = ChainOfThought::new(Arc::clone(&client)).with_limits(limits);
    let error = node
        .with_asks_again(100)
        .into_flow()
        .run(&mut reasoning())
        .await
        .unwrap_err();
    let error = cot_error(&error);

    assert_eq!(error.limit(), Some(Limit::Time(limit)), "{error}");
    let calls = client.0.load(Ordering::Relaxed);
    assert_eq!(calls, 3);
    assert_eq!(error.tries().len(), calls);
}

#[tokio::test(start_paused = true)]
async fn time_that_is_up_ends_a_run_before_the_next_call() {
    let mut reasoning = reasoning();
    let client = ScriptedClient::default().then(slow(FIRST)).then(slow(LAST));
    let limits = Limits::default().with_time(Duration::from_secs(10));
    let error = limited(client.clone(), limits)
        .run(&mut reasoning)
        .await
        .unwrap_err();

    // The reply comes in the very moment, and is taken.
    assert_eq!(
        (reasoning.thoughts().len(), error.phase()),
        (1, Some(Phase::Prep))
    );
    assert_eq!(
        cot_error(&error).limit(),
        Some(Limit::Time(Duration::from_secs(10)))
    );
    assert_eq!(client.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_hour_is_the_default_time_and_no_time_is_too_long() {
    let never = || ScriptedReply::from(LAST).after(Duration::from_secs(4000));
    let error = limited(ScriptedClient::default().then(never()), Limits::default())
        .run(&mut reasoning())
        .await
        .unwrap_err();
    assert_eq!(
        cot_error(&error).to_string(),
        "thought 1: the limit of 3600s was reached without a conclusion; the thoughts are kept, so the run can continue with a higher limit"
    );
    let limits = Limits::default()
        .with_time(Duration::MAX)
        .with_tokens(u64::MAX)
        .with_thoughts(u32::MAX);

    limited(ScriptedClient::default().then(never()), limits)
        .run(&mut reasoning())
        .await
        .unwrap();
}

#[tokio::test]
async fn limits_of_nothing_make_no_call() {
    for (limits, said) in [
        (
            Limits::default().with_thoughts(0),
            "thought 1: the limit of 0 thoughts was reached without a conclusion; the thoughts are kept, so the run can continue with a higher limit",
        ),
        (
            Limits::default().with_tokens(0),
            "thought 1: the limit of 0 tokens was reached without a conclusion; the thoughts are kept, so the run can continue with a higher limit",
        ),
        (
            Limits::default().with_time(Duration::ZERO),
            "thought 1: the limit of 0ns was reached without a conclusion; the thoughts are kept, so the run can continue with a higher limit",
        ),
    ] {
        let client = ScriptedClient::new([LAST]);
        let error = limited(client.clone(), limits)
            .run(&mut reasoning())
            .await
            .unwrap_err();
        assert_eq!(cot_error(&error).to_string(), said);
        assert_eq!(client.requests().len(), 0);
    }
}
