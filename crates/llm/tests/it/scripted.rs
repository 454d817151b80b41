//! The replies and records of a `ScriptedClient`.

use std::time::Duration;

use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message, ScriptedClient,
    ScriptedReply, Usage,
};
use tokio::time::Instant;

fn saying(text: &str) -> ChatRequest {
    ChatRequest::new([Message::user(text)])
}

#[tokio::test]
async fn replies_of_every_form_come_in_order() {
    let response = ChatResponse::new("2").with_usage(Usage::new(3, 1));
    let client = ScriptedClient::new(["1"])
        .then(response.clone())
        .then(LlmError::new(LlmErrorKind::Overloaded, "busy"))
        .then(String::from("4"));
    assert_eq!(client.complete(saying("a")).await.unwrap().text(), "1");
    assert_eq!(client.complete(saying("b")).await.unwrap(), response);
    assert_eq!(
        client.complete(saying("c")).await.unwrap_err().kind(),
        LlmErrorKind::Overloaded
    );
    assert_eq!(client.complete(saying("d")).await.unwrap().text(), "4");
    assert_eq!(client.requests(), ["a", "b", "c", "d"].map(saying));
}

#[tokio::test]
async fn a_script_at_its_end_says_how_long_it_was() {
    let client = ScriptedClient::new(["1", "2"]);
    client.complete(saying("a")).await.unwrap();
    client.complete(saying("b")).await.unwrap();
    let error = client.complete(saying("c")).await.unwrap_err();

    assert_eq!(error.kind(), LlmErrorKind::Other);
    assert!(!error.is_retryable());
    assert_eq!(
        error.to_string(),
        "other: the script has no reply to request 3: it has 2 replies"
    );
    assert_eq!(client.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_late_reply_comes_after_its_delay() {
    let client =
        ScriptedClient::default().then(ScriptedReply::from("1").after(Duration::from_secs(90)));
    let started = Instant::now();
    assert_eq!(client.complete(saying("a")).await.unwrap().text(), "1");
    assert!(started.elapsed() >= Duration::from_secs(90));
}

#[tokio::test]
async fn many_callers_at_once_each_get_one_reply() {
    let script = ScriptedClient::new((0..100).map(|n| n.to_string()));
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let client = script.clone();
            tokio::spawn(async move { client.complete(saying("a")).await.unwrap().into_text() })
        })
        .collect();

    let mut replies = Vec::new();
    for call in calls {
        replies.push(call.await.unwrap().parse::<u32>().unwrap());
    }

    replies.sort_unstable();
    assert_eq!(replies, (0..100).collect::<Vec<_>>());
}
