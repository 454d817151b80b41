//! The schemas of answers, in each store.

use cogwork_flow::engine::Json;
use cogwork_flow::{Action, Flow, Wait};
use cogwork_journal::{RunStatus, Store, StoreErrorKind, WaitSummary};

use crate::each::FileStore;
use crate::each::SqliteStore;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

fn asking(schema: impl Serialize) -> Flow<u32> {
    let wait = Wait::for_event("rating", |n: &mut u32, rating: u32| *n = rating);

    Flow::builder("rate")
        .start("ask")
        .wait("ask", wait.with_schema(schema))
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap()
}

/// Returns the wait of a run that was started, as another process reads it.
async fn wait_of(store: &Store, flow: &Flow<u32>) -> WaitSummary {
    let journal = store.start("a", flow, &0).await.unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut 0).await.unwrap_err();
    drop(run);

    // The record with the schema can be loaded again.
    let journal = store.resume("a", flow).await.unwrap();
    let error = flow.begin().with_journal(journal).finish(&mut 0).await;
    error.unwrap_err().into_paused().unwrap();

    let runs = store.runs().await.unwrap();
    match &runs[0].status {
        RunStatus::Paused { waits } => waits[0].clone(),
        status => unreachable!("{status:?}"),
    }
}

fn rating() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 5, "title": "„Stars“ </script>"})
}

#[tokio::test]
async fn a_folder_keeps_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let wait = wait_of(&FileStore::new(folder.path()), &asking(rating())).await;
    assert_eq!(wait.schema, Some(Json::of(&rating()).unwrap()));
}

#[tokio::test]
async fn a_database_keeps_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(folder.path().join("runs.db"));
    let wait = wait_of(&store, &asking(rating())).await;
    assert_eq!(wait.schema, Some(Json::of(&rating()).unwrap()));
}

#[tokio::test]
async fn properties_keep_their_order() {
    let text = "{\n\"properties\": {\"why\": {},\r\n\"amount\": {\"title\": \"a\\nb\"}}}";
    let schema = RawValue::from_string(text.to_owned()).unwrap();
    let flow = asking(schema);
    let written = text.replace(['\r', '\n'], " ");

    let folder = tempfile::tempdir().unwrap();
    let wait = wait_of(&FileStore::new(folder.path()), &flow).await;
    assert_eq!(wait.schema.unwrap().as_str(), written);

    let store = SqliteStore::new(folder.path().join("runs.db"));
    let wait = wait_of(&store, &flow).await;
    assert_eq!(wait.schema.unwrap().as_str(), written);
}

#[tokio::test]
async fn a_schema_that_is_too_long_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let long = json!({"description": "x".repeat(64 * 1024)});
    let wait = wait_of(&FileStore::new(folder.path()), &asking(long)).await;
    assert_eq!(wait.schema, None);
}

/// Answers a run in a store and in this process.
async fn wrong_answers_are_refused(store: &Store) {
    let flow = asking(rating());
    wait_of(store, &flow).await;

    let refused = store.deliver("a", "rating", &"four").await.unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::RefusedAnswer);
    let problem = "the answer to `rating` doesn't match the schema of its wait: at '': want integer, but got string";
    assert!(refused.to_string().ends_with(problem), "{refused}");

    let journal = store.resume("a", &flow).await.unwrap();
    let mut run = flow.begin().with_journal(journal);
    let mut rating = 0;
    run.finish(&mut rating).await.unwrap_err();
    let refused = run.deliver("rating", &6).await.unwrap_err();
    let problem = "the answer to `rating` doesn't match the schema of its wait: at '': must be <=5, but got 6";
    assert_eq!(
        refused.to_string(),
        format!("flow `rate`, node `ask`: {problem}")
    );

    run.deliver("rating", &4).await.unwrap();
    run.finish(&mut rating).await.unwrap();
    assert_eq!(rating, 4);
}

#[tokio::test]
async fn wrong_answers_are_refused_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    wrong_answers_are_refused(&FileStore::new(folder.path())).await;
}

#[tokio::test]
async fn wrong_answers_are_refused_in_a_database() {
    let folder = tempfile::tempdir().unwrap();
    wrong_answers_are_refused(&SqliteStore::new(folder.path().join("runs.db"))).await;
}

#[cfg(feature = "postgres")]
#[test]
fn a_server_keeps_the_schema_and_refuses_wrong_answers() {
    crate::server::with_server(async {
        use cogwork_journal::PostgresStore;

        let folder = tempfile::tempdir().unwrap();
        let store = <PostgresStore as crate::each::Tested>::within(folder.path());
        wrong_answers_are_refused(&store).await;

        let folder = tempfile::tempdir().unwrap();
        let store = <PostgresStore as crate::each::Tested>::within(folder.path());
        let flow = asking(rating());
        let wait = wait_of(&store, &flow).await;
        assert_eq!(wait.schema, Some(Json::of(&rating()).unwrap()));

        // Also while somebody works on the run, who gets the answer later.
        let journal = store.resume("a", &flow).await.unwrap();
        let refused = store.deliver("a", "rating", &0).await.unwrap_err();
        assert_eq!(refused.kind(), StoreErrorKind::RefusedAnswer);
        store.deliver("a", "rating", &5).await.unwrap();
        drop(journal);
    });
}
