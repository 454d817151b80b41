use cogwork_llm::layers::ConcurrencyLimit;
use cogwork_llm::{LlmClient, LlmErrorKind, ScriptedClient, ScriptedReply};
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::around::{ask, fails, follow, hello, seconds};

fn slow() -> ScriptedReply {
    ScriptedReply::in_pieces(["a", "b"]).every(seconds(5))
}

#[tokio::test(start_paused = true)]
async fn calls_over_the_limit_wait_for_a_place_in_their_order() {
    let client = ConcurrencyLimit::of::<2>(ScriptedClient::new((0..5).map(|_| slow())));
    let start = Instant::now();
    let calls = (0..5).map(async |call| {
        let outcome = match call % 2 {
            0 => ask(&client).await,
            _ => follow(&client).await,
        };
        outcome.unwrap();
        start.elapsed().as_secs()
    });
    assert_eq!(join_all(calls).await, [10, 10, 20, 20, 30]);
}

#[tokio::test(start_paused = true)]
async fn a_place_is_free_again_after_a_stream_ends_fails_or_is_dropped() {
    let broken = ScriptedReply::in_pieces(["a"]).but_then(fails(LlmErrorKind::Server));
    let script = ScriptedClient::default()
        .then("whole")
        .then(broken)
        .then(fails(LlmErrorKind::Server))
        .then(slow())
        .then("Hi.");
    let client = ConcurrencyLimit::of::<1>(script);

    // Read to its end and still held: the place is free all the same.
    let mut whole = client.stream(hello()).await.unwrap();
    while let Some(delta) = whole.next().await {
        delta.unwrap();
    }

    let mut failed = client.stream(hello()).await.unwrap();
    assert!(failed.next().await.unwrap().is_ok() && failed.next().await.unwrap().is_err());
    assert!(client.stream(hello()).await.is_err());

    let mut dropped = client.stream(hello()).await.unwrap();
    assert!(dropped.next().await.unwrap().is_ok());
    let waiting = tokio::time::timeout(seconds(60), ask(&client));
    assert!(waiting.await.is_err());
    drop(dropped);
    assert_eq!(ask(&client).await.unwrap().text(), "Hi.");
}
