//! The replies and records of a `ScriptedClient`.

use std::time::Duration;

use cogwork_llm::{
    ChatResponse, LlmClient, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply, Usage,
};
use tokio::time::Instant;

use crate::around::saying;

#[tokio::test]
async fn replies_of_every_form_come_in_order() {
    let response = ChatResponse::new("2").with_usage(Usage::new(3, 1));
    let client = ScriptedClient::new(["1"])
        .then(response.clone())
        .then(LlmError::new(LlmErrorKind::Overloaded, "busy"))
        .then(String::from("4"));
    let of = async |text| client.complete(saying(text)).await;
    assert_eq!(of("a").await.unwrap().text(), "1");
    assert_eq!(of("b").await.unwrap(), response);
    assert_eq!(of("c").await.unwrap_err().kind(), LlmErrorKind::Overloaded);
    assert_eq!(of("d").await.unwrap().text(), "4");

    let error = of("e").await.unwrap_err();
    assert!(!error.is_retryable());
    insta::assert_snapshot!(error, @"the script has no reply to request 5");
    assert_eq!(client.requests(), ["a", "b", "c", "d", "e"].map(saying));
}

#[tokio::test(start_paused = true)]
async fn a_late_reply_comes_after_its_delay() {
    let client =
        ScriptedClient::default().then(ScriptedReply::from("1").after(Duration::from_secs(90)));
    let started = Instant::now();
    assert_eq!(client.complete(saying("a")).await.unwrap().text(), "1");
    assert!(started.elapsed() >= Duration::from_secs(90));
}
