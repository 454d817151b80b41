//! The node that finds passages, in flows with and without a journal.

use cogwork_flow::Flow;
use cogwork_recall::{Passage, Query, Recalled, VectorMemory};

use crate::support::{Colours, texts};

#[derive(Default)]
struct Chat {
    question: String,
    found: Vec<Recalled>,
    end: &'static str,
}

impl Chat {
    fn asking(question: &str) -> Self {
        Self {
            question: question.to_owned(),
            ..Self::default()
        }
    }
}

async fn palette() -> VectorMemory {
    let memory = VectorMemory::in_memory(Colours::default()).unwrap();
    let passages = [
        Passage::new("red apples").with_source("fruit"),
        Passage::new("green leaves"),
    ];
    memory.insert(passages).await.unwrap();

    memory
}

fn flow(memory: &VectorMemory) -> Flow<Chat> {
    let retrieve = memory
        .node(
            |chat: &Chat| Query::new(&chat.question).with_min_score(0.5),
            |chat: &mut Chat, found: Vec<Recalled>| {
                chat.found = found;
                if chat.found.is_empty() {
                    "nothing"
                } else {
                    "found"
                }
            },
        )
        .with_actions(["found", "nothing"]);
    let end = |end| cogwork_flow::from_fn(move |chat: &mut Chat| chat.end = end);

    Flow::builder("chat")
        .start("retrieve")
        .node("retrieve", retrieve)
        .node("answer", end("answered"))
        .node("decline", end("declined"))
        .edge("retrieve", "found", "answer")
        .edge("retrieve", "nothing", "decline")
        .end("answer", "default")
        .end("decline", "default")
        .build()
        .unwrap()
}

#[tokio::test]
async fn passages_go_into_the_state_and_choose_the_edge() {
    let flow = flow(&palette().await);

    let mut chat = Chat::asking("red");
    flow.run(&mut chat).await.unwrap();
    assert_eq!(chat.found[0].source, "fruit");
    assert_eq!(texts(chat.found), ["red apples"]);
    assert_eq!(chat.end, "answered");

    let mut chat = Chat::asking("blue");
    flow.run(&mut chat).await.unwrap();
    assert_eq!(chat.end, "declined");
}

#[tokio::test]
async fn failures_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let memory = VectorMemory::open(&path, Colours::default()).await.unwrap();
    memory.insert([Passage::new("red apples")]).await.unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch("UPDATE vectors SET vector = x'00'")
        .unwrap();

    let error = flow(&memory)
        .run(&mut Chat::asking("red"))
        .await
        .unwrap_err();
    assert!(format!("{error:#}").contains("is damaged"), "{error:#}");
}

#[tokio::test]
async fn recorded_passages_are_not_searched_again() {
    let found = palette().await.recall(&Query::new("red")).await.unwrap();
    let json = serde_json::to_string(&found).unwrap();
    let read: Vec<Recalled> = serde_json::from_str(&json).unwrap();
    assert_eq!(read, found);
}
