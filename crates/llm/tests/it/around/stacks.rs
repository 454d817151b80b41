//! Several clients around one another, in the orders that the guide recommends.

use std::sync::Arc;

use cogwork_llm::backend::Capability;
use cogwork_llm::layers::{
    Backoff, Budget, Cache, ConcurrencyLimit, Fallback, RateLimit, Retry, Timeout,
};
use cogwork_llm::{LlmClient, LlmErrorKind, ScriptedClient, ScriptedReply};
use tokio::time::Instant;

use crate::around::{ask, fails, follow, seconds};

#[tokio::test(start_paused = true)]
async fn everything_at_once_gives_the_reply_in_pieces_and_tells_what_it_can_do() {
    let reply = || ScriptedReply::in_pieces(["Good ", "day."]);
    let inner = ScriptedClient::default()
        .then(fails(LlmErrorKind::Overloaded))
        .then(reply());
    let client = Timeout::new(inner.clone())
        .with_first(seconds(5))
        .with_idle(seconds(5))
        .with_total(seconds(50));
    let client = RateLimit::new(client).with_requests_per_minute(60.try_into().unwrap());
    let client = ConcurrencyLimit::of::<4>(client);
    let client = Budget::new(client).with_calls(10);
    let spent = client.clone();
    let client = Retry::new(client, Backoff::of::<3>());
    let client = Fallback::new(client, ScriptedClient::new(["never"]));
    let client: Arc<dyn LlmClient> = Arc::new(Cache::new(client));

    assert!(client.capabilities().has(Capability::Streaming));
    assert_eq!(follow(&client).await.unwrap().text(), "Good day.");
    assert_eq!(ask(&client).await.unwrap().text(), "Good day.");
    assert_eq!((inner.requests().len(), spent.spending().calls), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_inside_a_retry_is_of_each_attempt_and_outside_of_all() {
    let late = || ScriptedReply::from("Late.").after(seconds(20));
    let script = || ScriptedClient::new([late(), late(), late()]);
    let backoff = Backoff::of::<3>().with_first(seconds(1)).with_jitter(false);
    let timed = async |client: &dyn LlmClient| {
        let start = Instant::now();
        let error = ask(&client).await.unwrap_err();
        format!("{error}: {} s", start.elapsed().as_secs())
    };

    let inside = Retry::new(Timeout::new(script()).with_total(seconds(10)), backoff);
    let outside = Timeout::new(Retry::new(script(), backoff)).with_total(seconds(10));
    let told = [timed(&inside).await, timed(&outside).await];
    insta::assert_snapshot!(told.join("\n"), @"
    timeout: no complete reply within 10s, after 3 attempts: 33 s
    timeout: no complete reply within 10s: 10 s
    ");
}
