//! Values that grow while the reply arrives.

use std::sync::{Arc, Mutex};

use cogwork_flow::Flow;
use cogwork_flow::watch::events;
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient, ScriptedReply};
use cogwork_typed::Model;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::damage::{Random, framed};
use crate::damaged::{Flat, flat};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Story {
    title: String,
    pages: Vec<u32>,
}

#[derive(Deserialize)]
struct Draft {
    title: Option<String>,
    pages: Option<Vec<u32>>,
}

#[tokio::test]
async fn a_text_grows_without_the_thinking_before_it() {
    let pieces = ["<think>Say he", "llo.</think>\n\nHello", ", world", "!"];
    let client = ScriptedClient::new([ScriptedReply::in_pieces(pieces)])
        .with_capabilities(Capabilities::none().with(Capability::Streaming));
    let mut seen = Vec::new();

    let model = Model::text(client);
    let text = model.ask_streaming("Greet.", |text| seen.push(text.clone()));
    assert_eq!(text.await.unwrap().value, "Hello, world!");
    assert_eq!(seen, ["Hello", "Hello, world", "Hello, world!"]);
}

/// A stream that somebody follows isn't begun again behind their back.
#[tokio::test]
async fn a_stream_that_breaks_off_is_replaced_if_nobody_follows_it() {
    for kind in [LlmErrorKind::InterruptedStream, LlmErrorKind::Timeout] {
        assert_replaced(LlmError::new(kind, "connection reset")).await;
    }
}

async fn assert_replaced(error: LlmError) {
    let broken = || LlmError::new(error.kind(), error.message());
    let broken = || ScriptedReply::in_pieces(["Hel"]).but_then(broken());
    let client = ScriptedClient::new([broken(), broken()])
        .then("Hello!")
        .with_capabilities(Capabilities::none().with(Capability::Streaming));
    let greet = Model::text(client).node(
        |greeting: &String| greeting.clone(),
        |greeting, text| *greeting = text,
    );
    let flow = Flow::from_node("greet", greet).unwrap();
    let mut greeting = "Greet.".to_owned();

    let (sink, _followed) = events(100);
    let mut run = flow.begin().with_events(sink.clone());
    let error = run.finish(&mut greeting).await.unwrap_err();
    assert!(error.to_string().contains("connection reset"), "{error}");

    let mut run = flow.begin().with_events(sink.without_growth());
    run.finish(&mut greeting).await.unwrap();
    assert_eq!(greeting, "Hello!");
}

#[tokio::test]
async fn a_value_is_there_before_the_reply_ends() {
    // The second piece ends inside the two escapes of one character.
    let pieces = [
        "{\"title\": \"Th",
        "e sea \\ud83c\\udf",
        "0a\", \"pages\": [1, 2",
        "3, 4]}",
    ];
    let client = ScriptedClient::new([ScriptedReply::in_pieces(pieces)])
        .with_capabilities(Capabilities::none().with(Capability::Streaming));
    let seen = Arc::new(Mutex::new(Vec::new()));

    let model = Model::<Story>::typed(client);
    let story = model.ask_streaming("Write.", |growing| {
        let draft = Draft::deserialize(growing).unwrap();
        seen.lock()
            .unwrap()
            .push((draft.title.unwrap_or_default(), draft.pages));
    });
    let story = story.await.unwrap();

    assert_eq!(story.value.pages, [1, 23, 4]);
    assert_eq!(
        *seen.lock().unwrap(),
        [
            ("Th".to_owned(), None),
            ("The sea ".to_owned(), None),
            ("The sea 🌊".to_owned(), Some(vec![1])),
            ("The sea 🌊".to_owned(), Some(vec![1, 23, 4])),
        ]
    );
}

#[tokio::test]
async fn the_value_starts_over_with_another_reply() {
    let replies = [
        "{\"title\": \"one\"}",
        "{\"title\": \"two\", \"pages\": []}",
    ];
    let client = ScriptedClient::new(replies.map(|reply| ScriptedReply::in_pieces([reply])))
        .with_capabilities(Capabilities::none().with(Capability::Streaming));
    let mut titles = Vec::new();

    let model = Model::<Story>::typed(client);
    let story = model.ask_streaming("Write.", |growing| {
        titles.push(growing["title"].clone());
    });
    assert_eq!(story.await.unwrap().value.title, "two");
    assert_eq!(titles, ["one", "two"]);
}

/// Returns whether a part of a value states nothing that the whole value doesn't.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().all(|(key, value)| {
            let other = whole.get(key);
            other.is_some_and(|other| is_part(value, other))
        }),
        (Value::Array(part), Value::Array(whole)) => {
            let mut pairs = part.iter().zip(whole);
            part.len() <= whole.len() && pairs.all(|(part, whole)| is_part(part, whole))
        }
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (part, whole) => part == whole,
    }
}

/// Cuts a reply into pieces of these lengths, over and over.
fn pieces(reply: &str, lengths: &[usize]) -> Vec<String> {
    let mut characters = reply.chars().peekable();
    let mut lengths = lengths.iter().cycle();
    let mut pieces = Vec::new();

    while characters.peek().is_some() {
        let length = lengths.next().copied().unwrap_or(1);
        pieces.push(characters.by_ref().take(length).collect());
    }
    pieces
}

fn streamed(reply: ScriptedReply) -> (Vec<Value>, Flat) {
    let client = ScriptedClient::new([reply])
        .with_capabilities(Capabilities::none().with(Capability::Streaming));
    let model = Model::<Flat>::typed(client);
    let mut seen = Vec::new();

    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().build().unwrap();
    let answered = runtime.block_on(model.ask_streaming("Go.", |growing| {
        seen.push(growing.clone());
    }));
    let answered = answered.unwrap();
    (seen, answered.value)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_partial_value_states_nothing_else_than_the_final_one(
        seed: u64,
        frame in 0..5_usize,
        is_pretty: bool,
        lengths in prop::collection::vec(1..20_usize, 1..8),
    ) {
        let value = flat(&mut Random::new(seed));
        let json = if is_pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            serde_json::to_string(&value).unwrap()
        };
        let reply = framed(&json, frame);
        let reply = ScriptedReply::in_pieces(pieces(&reply, &lengths));

        let (seen, read) = streamed(reply);
        let whole = serde_json::to_value(&read).unwrap();

        prop_assert_eq!(read, value);
        prop_assert!(!seen.is_empty());
        for part in seen {
            prop_assert!(is_part(&part, &whole), "{part} is no part of {whole}");
        }
    }
}
