//! A node that finds passages, in flows with and without a journal.

use cogwork_flow::{Flow, from_phases_with};
use cogwork_journal::Store;
use cogwork_recall::{Passage, Query, Recalled, VectorMemory};
use serde::{Deserialize, Serialize};

use crate::support::{Colours, texts};

#[derive(Default, Serialize, Deserialize)]
struct Chat {
    question: String,
    found: Vec<Recalled>,
    end: String,
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
    let retrieve = from_phases_with(
        memory.clone(),
        |chat: &mut Chat| Query::new(&chat.question).with_min_score(0.5),
        async |memory: VectorMemory, query: Query| memory.recall(&query).await,
        |chat: &mut Chat, found| {
            chat.found = found;
            if chat.found.is_empty() {
                "nothing"
            } else {
                "found"
            }
        },
    );
    let retrieve = retrieve.with_actions(["found", "nothing"]);
    let end =
        |end: &'static str| cogwork_flow::from_fn(move |chat: &mut Chat| chat.end = end.to_owned());

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
async fn resumed_runs_continue_with_the_recorded_passages() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let memory = palette().await;
    let flow = flow(&memory);

    let journal = store
        .start_or_resume("run", &flow, &Chat::asking("red"))
        .await
        .unwrap();
    let mut chat = journal.state().unwrap();
    let stopped = flow
        .begin()
        .with_journal(journal)
        .with_max_steps(1)
        .finish(&mut chat)
        .await;
    assert!(stopped.unwrap_err().is_step_limit());

    memory.remove_source("fruit").await.unwrap();
    let journal = store
        .start_or_resume("run", &flow, &Chat::asking("red"))
        .await
        .unwrap();
    let mut chat: Chat = journal.state().unwrap();
    flow.begin()
        .with_journal(journal)
        .finish(&mut chat)
        .await
        .unwrap();

    assert_eq!(texts(chat.found), ["red apples"]);
    assert_eq!(chat.end, "answered");
}
