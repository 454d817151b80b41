//! Values that grow while the reply arrives.

use std::sync::{Arc, Mutex};

use cogwork_llm::{Capabilities, Capability, ScriptedClient, ScriptedReply};
use cogwork_typed::Model;
use schemars::JsonSchema;
use serde::Deserialize;

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
async fn a_value_is_there_before_the_reply_ends() {
    let pieces = ["{\"title\": \"Th", "e sea\", \"pages\": [1, 2", "3, 4]}"];
    let client = ScriptedClient::new([ScriptedReply::in_pieces(pieces)])
        .with_capabilities(Capabilities::none().with(Capability::Streaming));
    let seen = Arc::new(Mutex::new(Vec::new()));

    let model = Model::<Story>::typed(client);
    let story = model.ask_streaming("Write.", |growing| {
        let draft = Draft::deserialize(growing.value()).unwrap();
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
            ("The sea".to_owned(), Some(vec![1])),
            ("The sea".to_owned(), Some(vec![1, 23, 4])),
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
        titles.push(growing.value()["title"].clone());
    });
    assert_eq!(story.await.unwrap().value.title, "two");
    assert_eq!(titles, ["one", "two"]);
}
