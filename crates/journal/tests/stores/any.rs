//! Stores that are chosen at run time.

use std::path::Path;
use std::time::Duration;

use cogwork_flow::{Action, Flow, Wait, from_fn};
use cogwork_journal::{AnyStore, RunQuery, Store};

fn at(path: &Path) -> AnyStore {
    AnyStore::at(path.to_str().unwrap()).unwrap()
}

#[test]
fn the_place_chooses_the_kind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs");
    std::fs::write(&file, "").unwrap();

    assert!(matches!(at(folder.path()), AnyStore::File(_)));
    assert!(matches!(at(&folder.path().join("new")), AnyStore::File(_)));
    assert!(matches!(at(&file), AnyStore::Sqlite(_)));
    let database = folder.path().join("new.sqlite");
    assert!(matches!(at(&database), AnyStore::Sqlite(_)));

    #[cfg(feature = "postgres")]
    assert!(matches!(
        AnyStore::at("postgres://localhost/runs").unwrap(),
        AnyStore::Postgres(_)
    ));
    #[cfg(not(feature = "postgres"))]
    AnyStore::at("postgres://localhost/runs").unwrap_err();
}

/// Returns a flow that waits if its state is even, and ends otherwise.
fn flow() -> Flow<u32> {
    let wait = Wait::for_event("number", |n: &mut u32, more: u32| *n += more)
        .with_timeout(Duration::from_secs(3_600));
    let choose = from_fn(|n: &mut u32| if n.is_multiple_of(2) { "even" } else { "odd" });

    Flow::builder("number")
        .start("choose")
        .node("choose", choose.with_actions(["even", "odd"]))
        .wait("wait", wait)
        .edge("choose", "even", "wait")
        .end("choose", "odd")
        .end("wait", Action::DEFAULT)
        .end("wait", Action::TIMED_OUT)
        .build()
        .unwrap()
}

async fn fill(store: &AnyStore) {
    let flow = flow();
    for number in 0..4_u32 {
        let run_id = format!("run {number}");
        let journal = store.start(&run_id, &flow, &number).await.unwrap();
        let mut run = flow.begin().with_journal(journal);
        let _ = run.finish(&mut number.clone()).await;
    }
}

async fn ids(store: &AnyStore, query: RunQuery) -> Vec<String> {
    let runs = store.query(query).await.unwrap();
    runs.into_iter().map(|run| run.run_id).collect()
}

#[tokio::test]
async fn a_folder_is_queried_like_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let files = at(&folder.path().join("files"));
    let database = at(&folder.path().join("runs.db"));
    fill(&files).await;
    fill(&database).await;

    let queries = [
        RunQuery::new(),
        RunQuery::new().limit(2).offset(1),
        RunQuery::new().offset(9),
        RunQuery::new().paused(),
        RunQuery::new().paused_on("number"),
        RunQuery::new().paused_on("other"),
        RunQuery::new().ended().limit(1),
        RunQuery::new().failed(),
        RunQuery::new().open(),
        RunQuery::new().flow("another"),
        RunQuery::new().run_id("run 2"),
        RunQuery::new().run_id("run 2").ended(),
        RunQuery::new().run_id("../run 2"),
    ];

    for query in queries {
        let expected = ids(&database, query.clone()).await;
        assert_eq!(ids(&files, query.clone()).await, expected, "{query:?}");
    }
    assert_eq!(
        ids(&files, RunQuery::new().paused()).await,
        ["run 2", "run 0"]
    );
}
