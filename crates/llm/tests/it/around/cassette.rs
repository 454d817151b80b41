use std::path::PathBuf;
use std::time::Duration;

use cogwork_llm::{
    Capabilities, Capability, ChatResponse, Delta, FinishReason, LlmClient, LlmError, LlmErrorKind,
    Recorder, Replay, ScriptedClient, ScriptedReply, Usage,
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
    error
        .to_string()
        .replace(folder.path().to_str().unwrap(), "")
}

fn limited() -> LlmError {
    LlmError::new(LlmErrorKind::RateLimit, "slow down")
        .with_status(429)
        .with_retry_after(Duration::from_millis(1500))
        .with_body("{\"error\": 1}\nline")
        .with_request_id("req_1")
        .with_attempts(3)
}

#[tokio::test]
async fn a_cassette_has_a_line_of_json_for_each_call() {
    let (_folder, path) = place();
    let response = ChatResponse::new("Two\nlines.")
        .with_usage(Usage::new(30, 12))
        .with_finish_reason(FinishReason::Length);
    let broken = ScriptedReply::in_pieces(["Once ", "upon"])
        .but_then(fails(LlmErrorKind::InterruptedStream));
    let script = ScriptedClient::default()
        .then(response)
        .then(limited())
        .then(broken);

    let recorder = Recorder::create(script, &path).unwrap();
    recorder
        .complete(hello().with_temperature(0.2))
        .await
        .unwrap();
    ask(&recorder).await.unwrap_err();
    follow(&recorder).await.unwrap_err();

    insta::assert_snapshot!(std::fs::read_to_string(&path).unwrap(), @r#"
    {"request":{"messages":[{"role":"user","content":"Hello"}],"temperature":0.2},"response":{"text":"Two\nlines.","finish_reason":"length","usage":{"prompt_tokens":30,"completion_tokens":12,"cached_tokens":0}}}
    {"request":{"messages":[{"role":"user","content":"Hello"}]},"error":{"kind":"rate_limit","message":"slow down","status":429,"retry_after":{"secs":1,"nanos":500000000},"body":"{\"error\": 1}\nline","request_id":"req_1","attempts":3}}
    {"request":{"messages":[{"role":"user","content":"Hello"}]},"error":{"kind":"interrupted_stream","message":"no luck","text_so_far":"Once upon","attempts":1}}
    "#);
}

#[cfg(unix)]
#[test]
fn a_cassette_is_only_for_its_user() {
    use std::os::unix::fs::PermissionsExt;

    let (_folder, path) = place();
    Recorder::create(ScriptedClient::default(), &path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn what_was_recorded_is_played_in_order_for_each_request() {
    let (_folder, path) = place();
    let response = ChatResponse::new("Hi.")
        .with_usage(Usage::new(1, 2).with_reasoning_tokens(1))
        .with_reasoning("Hm.")
        .with_request_id("r");
    let script = ScriptedClient::default()
        .then(response.clone())
        .then(limited())
        .then(asks())
        .then("again");

    let recorder = Recorder::create(script, &path).unwrap();
    ask(&recorder).await.unwrap();
    ask(&recorder).await.unwrap_err();
    recorder.complete(with_tools()).await.unwrap();
    follow(&recorder).await.unwrap();

    let replay = Replay::open(&path).unwrap();
    assert_eq!(replay.unplayed(), 4);
    let streamed = replay.stream(with_tools()).await.unwrap();
    assert_eq!(streamed.collect().await.unwrap(), asks());
    assert_eq!(follow(&replay).await.unwrap(), response);

    let error = ask(&replay.clone()).await.unwrap_err();
    assert_eq!(format!("{error:#}"), format!("{:#}", limited()));
    assert_eq!(ask(&replay).await.unwrap().text(), "again");
    assert_eq!(replay.unplayed(), 0);
}

#[tokio::test]
async fn a_stream_that_broke_off_breaks_off_again() {
    let (_folder, path) = place();
    let broken = ScriptedReply::in_pieces(["Once ", "upon"])
        .but_then(fails(LlmErrorKind::InterruptedStream));
    let recorder = Recorder::create(ScriptedClient::new([broken]), &path).unwrap();
    follow(&recorder).await.unwrap_err();

    let mut reply = Replay::open(&path).unwrap().stream(hello()).await.unwrap();
    assert_eq!(
        reply.next().await.unwrap().unwrap(),
        Delta::Text("Once upon".to_owned())
    );

    let error = reply.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InterruptedStream);
    assert_eq!(error.text_so_far(), Some("Once upon"));
}

#[tokio::test]
async fn a_dropped_stream_is_not_recorded() {
    let (_folder, path) = place();
    let reply = ScriptedReply::in_pieces(["Once ", "upon"]);
    let recorder = Recorder::create(ScriptedClient::new([reply]), &path).unwrap();

    let mut dropped = recorder.stream(hello()).await.unwrap();
    dropped.next().await.unwrap().unwrap();
    drop(dropped);
    assert_eq!(Replay::open(&path).unwrap().unplayed(), 0);
}

#[tokio::test]
async fn a_request_without_a_recording_is_an_error_that_counts() {
    let (folder, path) = place();
    let recorder = Recorder::create(ScriptedClient::new(["1", "2"]), &path).unwrap();
    ask(&recorder).await.unwrap();
    recorder.complete(saying("Something else")).await.unwrap();

    let replay = Replay::open(&path).unwrap();
    ask(&replay).await.unwrap();
    let too_often = ask(&replay).await.unwrap_err();
    let unknown = replay.stream(saying("hello")).await.unwrap_err();

    assert_eq!(too_often.kind(), LlmErrorKind::Other);
    insta::assert_snapshot!(said(&too_often, &folder), @"other: the cassette /calls.jsonl: has 2 recordings, 1 of them of this request, of which none is left; expected one for each time it is asked");
    insta::assert_snapshot!(said(&unknown, &folder), @"other: the cassette /calls.jsonl: has 2 recordings, 0 of them of this request, of which none is left; expected one for each time it is asked");
}

#[test]
fn files_that_are_no_cassette_are_refused_with_the_line() {
    let (folder, path) = place();
    let refusal = |text: &str| {
        std::fs::write(&path, text).unwrap();
        said(&Replay::open(&path).unwrap_err(), &folder)
    };

    let call = r#"{"request":{"messages":[]},"response":{"text":"a"}}"#;
    let refusals = [
        refusal("{\"request\":{\"messages\":[]}}\n"),
        refusal("- request: {messages: []}\n"),
        refusal(&format!("{call}\n{}\n", &call[..40])),
    ];
    insta::assert_snapshot!(refusals.join("\n"), @"
    settings: the cassette /calls.jsonl: line 1: expected either `response` or `error`
    settings: the cassette /calls.jsonl: line 1, column 2: invalid number
    settings: the cassette /calls.jsonl: line 2, column 40: EOF while parsing a string
    ");

    std::fs::remove_file(&path).unwrap();
    insta::assert_snapshot!(said(&Replay::open(&path).unwrap_err(), &folder), @"settings: the cassette /calls.jsonl: cannot be read: No such file or directory (os error 2)");
}

#[tokio::test]
async fn a_cassette_is_not_written_over() {
    let (folder, path) = place();
    drop(Recorder::create(ScriptedClient::new(["1"]), &path).unwrap());
    assert_eq!(Replay::open(&path).unwrap().unplayed(), 0);

    let error = Recorder::create(ScriptedClient::new(["1"]), &path).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Settings);
    insta::assert_snapshot!(said(&error, &folder), @"settings: the cassette /calls.jsonl: cannot be created: File exists (os error 17)");
}

#[test]
fn a_replay_can_do_what_it_is_told() {
    let (_folder, path) = place();
    let recorder = Recorder::create(ScriptedClient::default(), &path).unwrap();
    let replay = Replay::open(&path).unwrap();

    assert!(recorder.capabilities().has(Capability::Streaming));
    assert_eq!(replay.capabilities(), Capabilities::none());
    let replay = replay.with_capabilities(recorder.capabilities());
    assert_eq!(replay.capabilities(), recorder.capabilities());
}
