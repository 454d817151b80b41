use cogwork_llm::{LlmClient, LlmErrorKind, ScriptedClient, ScriptedReply, Timeout};
use tokio::time::Instant;

use crate::around::{ask, fails, follow, hello, seconds};

fn pieces() -> ScriptedReply {
    ScriptedReply::in_pieces(["a", "b", "c"])
}

async fn outcome(client: Timeout<ScriptedClient>) -> (Result<String, String>, u64) {
    let start = Instant::now();
    let outcome = follow(&client).await;
    (
        outcome
            .map(|response| response.into_text())
            .map_err(|error| error.to_string()),
        start.elapsed().as_secs(),
    )
}

#[tokio::test(start_paused = true)]
async fn a_whole_reply_has_the_total_time_and_no_more() {
    let after = |delay| ScriptedReply::from("Hi.").after(seconds(delay));
    let client = Timeout::new(ScriptedClient::new([after(9), after(11)])).with_total(seconds(10));
    assert_eq!(ask(&client).await.unwrap().text(), "Hi.");
    let start = Instant::now();
    let error = ask(&client).await.unwrap_err();

    assert_eq!(error.to_string(), "timeout: no complete reply within 10s");
    assert!(error.is_retryable());
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn each_limit_of_a_stream_holds_for_its_own_part() {
    let late = || Timeout::new(ScriptedClient::new([pieces().after(seconds(20))]));
    let slow = || Timeout::new(ScriptedClient::new([pieces().every(seconds(10))]));
    let fails = |what: &str| Err(format!("timeout: no {what}"));
    let whole = || Ok("abc".to_owned());

    for (client, expected, after) in [
        (slow(), whole(), 30),
        (
            late().with_first(seconds(5)),
            fails("first piece of the reply within 5s"),
            5,
        ),
        (late().with_idle(seconds(5)), whole(), 20),
        (slow().with_first(seconds(15)), whole(), 30),
        (
            slow().with_idle(seconds(5)),
            fails("further piece of the reply within 5s"),
            15,
        ),
        (
            slow().with_idle(seconds(15)).with_total(seconds(25)),
            fails("complete reply within 25s"),
            25,
        ),
    ] {
        assert_eq!(outcome(client).await, (expected, after));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_out_of_time_keeps_the_text_so_far_and_is_over() {
    let client =
        Timeout::new(ScriptedClient::new([pieces().every(seconds(10))])).with_total(seconds(25));
    let mut reply = client.stream(hello()).await.unwrap();
    assert!(reply.next().await.unwrap().is_ok() && reply.next().await.unwrap().is_ok());
    let error = reply.next().await.unwrap().unwrap_err();

    assert_eq!(
        (error.kind(), error.text_so_far()),
        (LlmErrorKind::Timeout, Some("ab"))
    );
    assert!(reply.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn time_that_the_program_takes_is_not_idle_time() {
    let client = Timeout::new(ScriptedClient::new([pieces()])).with_idle(seconds(1));
    let mut reply = client.stream(hello()).await.unwrap();
    while let Some(delta) = reply.next().await {
        delta.unwrap();
        tokio::time::sleep(seconds(60)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn other_errors_and_the_longest_limits_pass_through() {
    let client = Timeout::new(ScriptedClient::new([
        fails(LlmErrorKind::Quota),
        fails(LlmErrorKind::Quota),
    ]))
    .with_first(std::time::Duration::MAX)
    .with_idle(std::time::Duration::MAX)
    .with_total(std::time::Duration::MAX);

    assert_eq!(ask(&client).await.unwrap_err().kind(), LlmErrorKind::Quota);
    assert_eq!(
        follow(&client).await.unwrap_err().kind(),
        LlmErrorKind::Quota
    );
}
