use std::path::PathBuf;
use std::time::Duration;

use cogwork_llm::{
    Block, Capabilities, Capability, ChatRequest, ChatResponse, Delta, FinishReason, LlmClient,
    LlmError, LlmErrorKind, Message, Recorder, Replay, ReplyFormat, ScriptedClient, ScriptedReply,
    ToolChoice, ToolDefinition, Usage,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::around::{ask, asks, fails, follow, hello, saying, weather, with_tools};

/// A place for a cassette, and what keeps it.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.yaml");
    (folder, path)
}

/// The folder's name is another one each time.
fn without_folder(text: &str, folder: &TempDir) -> String {
    text.replace(folder.path().to_str().unwrap(), "")
}

fn conversation() -> ChatRequest {
    ChatRequest::new([
        Message::system("Be brief.\nBe kind: always."),
        Message::user("What is 2 + 2? # really"),
        Message::assistant("4"),
        Message::user("Sure?"),
    ])
    .with_max_tokens(50)
    .with_temperature(0.2)
    .with_stop(["END"])
    .with_format(ReplyFormat::schema("sum", r#"{"type": "object"}"#))
}

#[tokio::test]
async fn a_cassette_reads_well() {
    let (_folder, path) = place();
    let response =
        ChatResponse::new("planning:\n  - description: |\n      Two lines\n      # of text\n")
            .with_reasoning("Hm: yes.")
            .with_usage(Usage::new(30, 12))
            .with_model("m")
            .with_finish_reason(FinishReason::Length);

    let limited = LlmError::new(LlmErrorKind::RateLimit, "slow down")
        .with_status(429)
        .with_retry_after(Duration::from_millis(1500))
        .with_request_id("req_1");
    let broken = ScriptedReply::in_pieces(["Once ", "upon"])
        .but_then(fails(LlmErrorKind::InterruptedStream));
    let client = Recorder::create(
        ScriptedClient::default()
            .then(response)
            .then(limited)
            .then(broken),
        &path,
    )
    .unwrap();

    client.complete(conversation()).await.unwrap();
    ask(&client).await.unwrap_err();
    follow(&client).await.unwrap_err();
    insta::assert_snapshot!(std::fs::read_to_string(&path).unwrap());
}

#[tokio::test]
async fn a_cassette_holds_tools_calls_and_images() {
    let (_folder, path) = place();
    let recorder = Recorder::create(ScriptedClient::new([asks()]), &path).unwrap();
    recorder.complete(with_tools()).await.unwrap();
    insta::assert_snapshot!(std::fs::read_to_string(&path).unwrap(), @r#"
    # Calls to a model, each with the request as it was sent and the response or error that came back.
    # Requests are matched whole; responses may be edited. A call without `complete: true` at its end was cut off.
    - request:
        messages:
        - role: user
          content: Where is this, and does it rain?
          blocks:
          - type: image
            media_type: image/png
            data: iVBORw0KGgo=
        - role: assistant
          content: Let me see.
          tool_calls:
          - id: call_1
            name: weather
            arguments: '{"city": "Bergen"}'
        - role: tool
          content: no connection
          result_of:
            id: call_1
            name: weather
            failed: true
        tools:
        - name: weather
          description: The weather in a city.
          input_schema: '{"type": "object"}'
        tool_choice: required
      response:
        text: Again.
        finish_reason: tool_calls
        tool_calls:
        - id: call_1
          name: weather
          arguments: '{"city": "Bergen"}'
      complete: true
    "#);

    let replay = Replay::open(&path).unwrap();
    assert_eq!(
        replay
            .stream(with_tools())
            .await
            .unwrap()
            .collect()
            .await
            .unwrap(),
        asks()
    );
}

#[tokio::test]
async fn a_miss_shows_tools_calls_and_results_but_no_data_of_images() {
    let (folder, path) = place();
    let recorder = Recorder::create(ScriptedClient::new([asks()]), &path).unwrap();
    recorder.complete(with_tools()).await.unwrap();
    let mut said: Vec<Message> = with_tools().messages().iter().cloned().collect();

    said[0] = said[0]
        .clone()
        .with_blocks([Block::image("image/png", "iVBORw0KGgp=")]);
    said[1] = Message::assistant("Let me see.").with_tool_calls([weather("Oslo")]);
    said[2] = Message::tool_result(&weather("Bergen"), "no connection");
    let asked = ChatRequest::new(said)
        .with_tools([ToolDefinition::new(
            "weather",
            "The weather in a place.",
            r#"{"type": "object"}"#,
        )])
        .with_tool_choice(ToolChoice::Tool("weather".to_owned()));

    let error = Replay::open(&path)
        .unwrap()
        .complete(asked)
        .await
        .unwrap_err();

    insta::assert_snapshot!(without_folder(&format!("{error:#}"), &folder), @r#"
    other: the cassette /calls.yaml: this request was not recorded; the most similar one is recording 1: messages[0] is user "[image, image/png] Where is this, and does it rain?" in the recording and user "[image, image/png] Where is this, and does it rain?" with different data in the request
    messages[0]
    - user "[image, image/png] Where is this, and does it rain?"
    + user "[image, image/png] Where is this, and does it rain?" with different data
    messages[1]
    - assistant …"all call_1, weather {\"city\": \"Bergen\"}]"
    + assistant …"all call_1, weather {\"city\": \"Oslo\"}]"
    messages[2]
    - tool "[failure of call_1, weather] no connection"
    + tool "[result of call_1, weather] no connection"
    tools
    - "weather: The weather in a city. {\"type\": \"object\"}"
    + "weather: The weather in a place. {\"type\": \"object\"}"
    tool_choice
    - required
    + the tool weather
    "#);
}

#[tokio::test]
async fn what_was_recorded_is_played_in_order_for_each_request() {
    let (_folder, path) = place();
    let error = || {
        LlmError::new(LlmErrorKind::RateLimit, "slow down")
            .with_status(429)
            .with_retry_after(Duration::from_millis(1500))
            .with_body("{\"error\": 1}\nline")
            .with_attempts(3)
    };

    let response = ChatResponse::new("Hi.")
        .with_usage(Usage::new(1, 2).with_reasoning_tokens(1))
        .with_request_id("r");
    let script = ScriptedClient::default()
        .then(response.clone())
        .then(error())
        .then("other")
        .then("again");

    let recorder = Recorder::create(script, &path).unwrap();
    ask(&recorder).await.unwrap();
    ask(&recorder).await.unwrap_err();
    recorder.complete(conversation()).await.unwrap();
    follow(&recorder).await.unwrap();

    let replay = Replay::open(&path).unwrap();
    assert_eq!(replay.unplayed(), 4);
    assert_eq!(
        replay.complete(conversation()).await.unwrap().text(),
        "other"
    );
    assert_eq!(follow(&replay).await.unwrap(), response);
    assert_eq!(
        format!("{:#}", ask(&replay.clone()).await.unwrap_err()),
        format!("{:#}", error())
    );
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
    assert_eq!(
        (error.kind(), error.text_so_far()),
        (LlmErrorKind::InterruptedStream, Some("Once upon"))
    );
}

/// What a cassette of one recording, the conversation, says to this request.
async fn miss(request: ChatRequest) -> String {
    let (folder, path) = place();
    let recorder = Recorder::create(ScriptedClient::new(["1", "2"]), &path).unwrap();
    recorder.complete(saying("Something else")).await.unwrap();
    recorder.complete(conversation()).await.unwrap();

    let error = Replay::open(&path)
        .unwrap()
        .complete(request)
        .await
        .unwrap_err();

    assert_eq!(error.kind(), LlmErrorKind::Other);
    assert!(!error.is_retryable());
    without_folder(&format!("{error:#}"), &folder)
}

#[tokio::test]
async fn a_miss_names_the_nearest_recording_and_the_difference() {
    let mut longer = conversation();
    longer.push(Message::assistant("Yes."));
    let changed = ChatRequest::new([
        Message::system("Be brief.\nBe kind: always."),
        Message::user("What is 2 + 3? # really"),
    ])
    .with_seed(7);

    let said = [
        miss(longer).await,
        miss(changed).await,
        miss(conversation().with_max_tokens(51)).await,
    ];

    insta::assert_snapshot!(said.join("\n\n"), @r#"
    other: the cassette /calls.yaml: this request was not recorded; the most similar one is recording 2: messages[4] is missing in the recording and assistant "Yes." in the request
    messages[4]
    - missing
    + assistant "Yes."

    other: the cassette /calls.yaml: this request was not recorded; the most similar one is recording 2: messages[1] is user "What is 2 + 2? # really" in the recording and user "What is 2 + 3? # really" in the request
    messages[1]
    - user "What is 2 + 2? # really"
    + user "What is 2 + 3? # really"
    messages[2]
    - assistant "4"
    + missing
    messages[3]
    - user "Sure?"
    + missing
    max_tokens
    - 50
    + not set
    temperature
    - 0.2
    + not set
    seed
    - not set
    + 7
    stop
    - ["END"]
    + []
    format
    - "sum: {\"type\": \"object\"}"
    + "free text"

    other: the cassette /calls.yaml: this request was not recorded; the most similar one is recording 2: max_tokens is 50 in the recording and 51 in the request
    max_tokens
    - 50
    + 51
    "#);
}

#[tokio::test]
async fn a_difference_deep_in_a_long_text_is_shown_where_it_is() {
    let (folder, path) = place();
    let text = |word: &str| saying(&format!("{}{word}{}", "é".repeat(5_000), "z".repeat(5_000)));
    let recorder = Recorder::create(ScriptedClient::new(["1"]), &path).unwrap();
    recorder.complete(text("old")).await.unwrap();

    let error = Replay::open(&path)
        .unwrap()
        .complete(text("new"))
        .await
        .unwrap_err();

    insta::assert_snapshot!(without_folder(&error.to_string(), &folder), @r#"other: the cassette /calls.yaml: this request was not recorded; the most similar one is recording 1: messages[0] is user …"ééééééééééééééééééééééééééééééoldzzzzzzzzzzzzzzzzzzzzzzzzzzz"… in the recording and user …"éééééééééééééééééééééééééééééénewzzzzzzzzzzzzzzzzzzzzzzzzzzz"… in the request"#);
}

#[tokio::test]
async fn a_request_asked_once_too_often_is_a_miss() {
    let (folder, path) = place();
    let recorder = Recorder::create(ScriptedClient::new(["1"]), &path).unwrap();
    ask(&recorder).await.unwrap();
    let replay = Replay::open(&path).unwrap();

    ask(&replay).await.unwrap();
    assert_eq!(
        without_folder(&ask(&replay).await.unwrap_err().to_string(), &folder),
        "other: the cassette /calls.yaml: this request has been played as often as it was recorded (1); \
         expected a recording for each time it is asked"
    );
}

#[tokio::test]
async fn an_edited_cassette_plays_what_it_says() {
    let (_folder, path) = place();
    std::fs::write(
        &path,
        "- request: {messages: [{role: user, content: Hello}]}\n  response: {text: Edited.}\n  complete: true\n",
    )
    .unwrap();

    assert_eq!(
        ask(&Replay::open(&path).unwrap()).await.unwrap(),
        ChatResponse::new("Edited.")
    );
}

#[test]
fn files_that_are_no_cassette_are_refused() {
    let (folder, path) = place();
    let complaint = |text: &str| {
        std::fs::write(&path, text).unwrap();
        without_folder(&Replay::open(&path).unwrap_err().to_string(), &folder)
    };
    let said = [
        complaint("- request: {messages: []}\n  complete: true\n"),
        complaint(
            "- request: {messages: []}\n  response: {text: a}\n  error: {kind: server, message: m}\n  complete: true\n",
        ),
        complaint("- request: {messages: []}\n  reply: {text: a}\n"),
        complaint("- request: {messages: []}\n  error: {kind: mood, message: m}\n"),
        complaint("{"),
    ];

    insta::assert_snapshot!(said.join("\n"), @"
    settings: the cassette /calls.yaml: recording 1 has neither a response nor an error; expected one of them
    settings: the cassette /calls.yaml: recording 1 has both a response and an error; expected one of them
    settings: the cassette /calls.yaml: .[0]: unknown field `reply`, expected one of `request`, `embed`, `response`, `embeddings`, `error`, `complete` at line 2 column 3
    settings: the cassette /calls.yaml: .[0].error.kind: unknown variant `mood`, expected one of `settings`, `authentication`, `quota`, `rate_limit`, `overloaded`, `server`, `timeout`, `transport`, `invalid_request`, `context_length`, `content_filter`, `decode`, `interrupted_stream`, `budget`, `cancelled`, `other` at line 2 column 17
    settings: the cassette /calls.yaml: invalid type: map, expected a list of at most 20000
    ");

    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        without_folder(&Replay::open(&path).unwrap_err().to_string(), &folder),
        "settings: the cassette /calls.yaml: cannot be read: No such file or directory (os error 2)"
    );
}

#[tokio::test]
async fn a_cassette_is_not_written_over() {
    let (folder, path) = place();
    drop(Recorder::create(ScriptedClient::new(["1"]), &path).unwrap());
    assert_eq!(Replay::open(&path).unwrap().unplayed(), 0);
    let error = Recorder::create(ScriptedClient::new(["1"]), &path).unwrap_err();

    assert_eq!(
        without_folder(&error.to_string(), &folder),
        "settings: the cassette /calls.yaml: cannot be created: File exists (os error 17)"
    );
    let error = ask(&Replay::open(&path).unwrap()).await.unwrap_err();
    assert_eq!(
        without_folder(&error.to_string(), &folder),
        "other: the cassette /calls.yaml: this request was not recorded, nor was any other"
    );
}

#[tokio::test]
async fn a_replay_can_do_what_it_is_told() {
    let (_folder, path) = place();
    let recorder = Recorder::create(ScriptedClient::new(["1"]), &path).unwrap();
    assert!(recorder.capabilities().has(Capability::Streaming));
    let replay = Replay::open(&path).unwrap();

    assert_eq!(replay.capabilities(), Capabilities::none());
    assert_eq!(
        replay
            .with_capabilities(recorder.capabilities())
            .capabilities(),
        recorder.capabilities()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_text_comes_back_as_it_was(
        asked in prop::collection::vec(any::<char>(), 0..60),
        told in prop_oneof![
            prop::collection::vec(any::<char>(), 0..60),
            prop::collection::vec(prop::sample::select(vec!['\n', ' ', '\t', '#', ':', '-', '|', '>', '"', '\'', 'a', '\r', '\u{85}', '\u{2028}', '\u{feff}']), 0..40),
        ],
        temperature in any::<Option<f32>>().prop_filter("JSON and YAML agree on these", |t| t.is_none_or(f32::is_finite)),
        seed in any::<Option<u64>>(),
    ) {
        let (_folder, path) = place();
        let (asked, told) = (String::from_iter(asked), String::from_iter(told));
        let mut request = saying(&asked).with_stop([told.clone()]);
        if let Some(temperature) = temperature {
            request = request.with_temperature(temperature);
        }
        if let Some(seed) = seed {
            request = request.with_seed(seed);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let replayed = runtime.block_on(async {
            let recorder = Recorder::create(ScriptedClient::new([told.clone()]), &path).unwrap();
            recorder.complete(request.clone()).await.unwrap();
            Replay::open(&path).unwrap().complete(request).await
        });
        prop_assert_eq!(replayed.unwrap().into_text(), told);
    }
}
