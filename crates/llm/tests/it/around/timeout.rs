use std::time::Duration;

use cogwork_llm::layers::Timeout;
use cogwork_llm::{LlmClient, LlmErrorKind, ScriptedClient, ScriptedReply};
use tokio::time::Instant;

use crate::around::{both, fails, follow, hello, seconds};
use crate::table::check;

fn pieces() -> ScriptedReply {
    ScriptedReply::in_pieces(["a", "b", "c"])
}

#[tokio::test(start_paused = true)]
async fn each_limit_holds_for_its_own_part() {
    // In each row, when the first piece comes and how long each takes, and the limits.
    let table = "
        20 0 => abc after 20
        0 10 => abc after 30
        20 0 first 5 => timeout: no first piece of the reply within 5s after 5
        20 0 idle 5 => abc after 20
        0 10 first 15 => abc after 30
        0 10 idle 5 => timeout: no further piece of the reply within 5s after 15
        0 10 idle 15 total 25 => timeout: no complete reply within 25s after 25
        9 0 total 10 => abc after 9
        11 0 total 10 => timeout: no complete reply within 10s after 10
    ";
    check(table, async |row| {
        let words: Vec<&str> = row.split(' ').collect();
        let time = |word: &str| seconds(word.parse().unwrap());
        let reply = pieces().after(time(words[0])).every(time(words[1]));
        let mut client = Timeout::new(ScriptedClient::new([reply]));
        for limit in words[2..].chunks(2) {
            client = match limit[0] {
                "first" => client.with_first(time(limit[1])),
                "idle" => client.with_idle(time(limit[1])),
                _ => client.with_total(time(limit[1])),
            };
        }

        let start = Instant::now();
        let outcome = follow(&client).await.map(|response| response.into_text());
        let told = outcome.unwrap_or_else(|error| error.to_string());
        format!("{told} after {}", start.elapsed().as_secs())
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_out_of_time_keeps_the_text_so_far_and_is_over() {
    let script = ScriptedClient::new([pieces().every(seconds(10))]);
    let client = Timeout::new(script).with_total(seconds(25));
    let mut reply = client.stream(hello()).await.unwrap();
    assert!(reply.next().await.unwrap().is_ok() && reply.next().await.unwrap().is_ok());

    let error = reply.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Timeout);
    assert_eq!(error.text_so_far(), Some("ab"));
    assert!(error.is_retryable());
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
    let client = Timeout::new(ScriptedClient::new([LlmErrorKind::Quota; 2].map(fails)))
        .with_first(Duration::MAX)
        .with_idle(Duration::MAX)
        .with_total(Duration::MAX);
    assert_eq!(both(&client).await.unwrap_err().kind(), LlmErrorKind::Quota);
}
