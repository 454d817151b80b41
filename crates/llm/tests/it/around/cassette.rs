use std::path::PathBuf;
use std::time::Duration;

use cogwork_llm::backend::Capabilities;
use cogwork_llm::layers::{Recorder, Replay};
use cogwork_llm::{
    ChatResponse, Delta, FinishReason, LlmClient, LlmError, LlmErrorKind, ScriptedClient,
    ScriptedReply, Usage,
};
use tempfile::TempDir;

use crate::around::{ask, asks, fails, follow, hello, saying, with_tools};

/// A place for a cassette, and what keeps it.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    (folder, path)
}

/// What an error says, without the folder, whose name is another one each time.
fn said(error: &LlmError, folder: &TempDir) -> String {
    let folder = folder.path().to_str().unwrap();
    error.to_string().replace(folder, "")
}

fn limited() -> LlmError {
    LlmError::new(LlmErrorKind::RateLimit, "slow down")
        .with_status(429)
        .with_retry_after(Duration::from_millis(1500))
        .with_body("{\"error\": 1}\nline")
        .with_request_id("req_1")
        .with_attempts(3)
}

fn broken() -> ScriptedReply {
    ScriptedReply::in_pieces(["Once ", "upon"]).but_then(fails(LlmErrorKind::InterruptedStream))
}

#[tokio::test]
async fn a_cassette_has_a_line_of_json_for_each_call() {
    let (_folder, path) = place();
    let response = ChatResponse::new("Two\nlines.")
        .with_usage(Usage::new(30, 12))
        .with_finish_reason(FinishReason::Length);
    let script = ScriptedClient::default()
        .then(response)
        .then(limited())
        .then(broken());
    let recorder = Recorder::create(script, &path).unwrap();
    let request = hello().with_temperature(0.2);
    recorder.complete(request).await.unwrap();
    ask(&recorder).await.unwrap_err();
    follow(&recorder).await.unwrap_err();

    insta::assert_snapshot!(std::fs::read_to_string(&path).unwrap(), @r#"
    {"request":{"messages":[{"role":"user","content":"Hello"}],"temperature":0.2},"response":{"text":"Two\nlines.","finish_reason":"length","usage":{"prompt_tokens":30,"completion_tokens":12,"cached_tokens":0}}}
    {"request":{"messages":[{"role":"user","content":"Hello"}]},"error":{"kind":"rate_limit","message":"slow down","status":429,"retry_after":{"secs":1,"nanos":500000000},"body":"{\"error\": 1}\nline","request_id":"req_1","attempts":3}}
    {"request":{"messages":[{"role":"user","content":"Hello"}]},"error":{"kind":"interrupted_stream","message":"no luck","text_so_far":"Once upon","attempts":1}}
    "#);

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test]
async fn what_was_recorded_is_played_in_order_for_each_request() {
    let (_folder, path) = place();
    let response = ChatResponse::new("Hi.")
        .with_usage(Usage {
            reasoning_tokens: 1,
            ..Usage::new(1, 2)
        })
        .with_reasoning("Hm.")
        .with_request_id("r");
    let script = ScriptedClient::default()
        .then(ScriptedReply::in_pieces(["dropped"]))
        .then(response.clone())
        .then(limited())
        .then(asks())
        .then(broken());
    let recorder = Recorder::create(script, &path).unwrap();
    let mut dropped = recorder.stream(hello()).await.unwrap();
    dropped.next().await.unwrap().unwrap();
    drop(dropped);
    ask(&recorder).await.unwrap();
    ask(&recorder).await.unwrap_err();
    recorder.complete(with_tools()).await.unwrap();
    follow(&recorder).await.unwrap_err();

    let replay = Replay::open(&path).unwrap();
    assert_eq!(replay.capabilities(), Capabilities::none());
    let replay = replay.with_capabilities(recorder.capabilities());
    assert_eq!(replay.capabilities(), recorder.capabilities());

    let streamed = replay.stream(with_tools()).await.unwrap();
    assert_eq!(streamed.collect().await.unwrap(), asks());
    assert_eq!(follow(&replay).await.unwrap(), response);
    let error = ask(&replay.clone()).await.unwrap_err();
    assert_eq!(format!("{error:#}"), format!("{:#}", limited()));

    // A stream that broke off breaks off again.
    let mut reply = replay.stream(hello()).await.unwrap();
    let text = reply.next().await.unwrap().unwrap();
    assert_eq!(text, Delta::Text("Once upon".to_owned()));
    let error = reply.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InterruptedStream);
    assert_eq!(error.text_so_far(), Some("Once upon"));
}

#[tokio::test]
async fn a_request_without_a_recording_is_an_error() {
    let (folder, path) = place();
    let recorder = Recorder::create(ScriptedClient::new(["1", "2"]), &path).unwrap();
    ask(&recorder).await.unwrap();
    recorder.complete(saying("Something else")).await.unwrap();

    let replay = Replay::open(&path).unwrap();
    ask(&replay).await.unwrap();
    let too_often = ask(&replay).await.unwrap_err();
    let unknown = replay.stream(saying("hello")).await.unwrap_err();
    assert_eq!(too_often.kind(), LlmErrorKind::Other);
    insta::assert_snapshot!([too_often, unknown].map(|error| said(&error, &folder)).join("\n"), @"
    the cassette /calls.jsonl: has no recording of this request left; expected one for each time it is asked
    the cassette /calls.jsonl: has no recording of this request left; expected one for each time it is asked
    ");
}

#[test]
fn files_that_are_no_cassette_are_refused_with_the_line() {
    let (folder, path) = place();
    let refusal = |text: &str| {
        std::fs::write(&path, text).unwrap();
        said(&Replay::open(&path).unwrap_err(), &folder)
    };

    let call = r#"{"request":{"messages":[]},"response":{"text":"a"}}"#;
    let mut refusals = vec![
        refusal("{\"request\":{\"messages\":[]}}\n"),
        refusal("- request: {messages: []}\n"),
        refusal(&format!("{call}\n{}\n", &call[..40])),
    ];
    // A cassette isn't written over.
    let error = Recorder::create(ScriptedClient::default(), &path).unwrap_err();
    refusals.push(said(&error, &folder));
    std::fs::remove_file(&path).unwrap();
    refusals.push(said(&Replay::open(&path).unwrap_err(), &folder));
    insta::assert_snapshot!(refusals.join("\n"), @"
    settings: the cassette /calls.jsonl: line 1: expected either `response` or `error`
    settings: the cassette /calls.jsonl: line 1, column 2: invalid number
    settings: the cassette /calls.jsonl: line 2, column 40: EOF while parsing a string
    settings: the cassette /calls.jsonl: cannot be created: File exists (os error 17)
    settings: the cassette /calls.jsonl: cannot be read: No such file or directory (os error 2)
    ");
}
