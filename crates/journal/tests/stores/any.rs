//! Stores that are chosen at run time.

use std::path::Path;
use std::time::Duration;

use cogwork_flow::{Action, Flow, Wait, from_fn};
use cogwork_journal::{RunQuery, Store};

fn at(path: &Path) -> Store {
    Store::at(path.to_str().unwrap()).unwrap()
}

#[test]
fn the_place_chooses_the_kind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs");
    std::fs::write(&file, "").unwrap();

    let kind = |store: Store| {
        format!("{store:?}")
            .split([' ', '('])
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(kind(at(folder.path())), "Files");
    assert_eq!(kind(at(&folder.path().join("new"))), "Files");
    assert_eq!(kind(at(&file)), "Sqlite");
    assert_eq!(kind(at(&folder.path().join("new.sqlite"))), "Sqlite");

    let server = Store::at("postgres://localhost/runs");
    assert_eq!(server.is_ok(), cfg!(feature = "postgres"));
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

async fn fill(store: &Store) {
    let flow = flow();
    for number in 0..4_u32 {
        let run_id = format!("run {number}");
        let journal = store.start(&run_id, &flow, &number).await.unwrap();
        let mut run = flow.begin().with_journal(journal);
        let _ = run.finish(&mut number.clone()).await;
    }
}

async fn ids(store: &Store, query: RunQuery) -> Vec<String> {
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
