//! Removing runs.

use cogwork_journal::{Store, StoreErrorKind};

use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow, greeting};

for_each_store! {
    a_damaged_run_can_be_removed,
    a_removed_run_leaves_nothing,
}

async fn finish(store: &Store, run_id: &str, calls: &Calls) -> Work {
    let flow = flow(&counted(calls));
    let journal = store.start_or_resume(run_id, &flow, &Work::of(2)).await;
    let journal = journal.unwrap();
    let mut work = journal.state().unwrap();

    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut work).await.unwrap();
    work
}

async fn a_damaged_run_can_be_removed<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    finish(&store, "a", &calls).await;

    let lines = store.lines("a").replace("outcome", "income");
    store.rewrite("a", &lines);
    let error = store.resume("a", &flow(&counted(&calls))).await;
    assert_eq!(error.unwrap_err().kind(), StoreErrorKind::Damaged);

    store.remove("a").await.unwrap();
    assert_eq!(store.runs().await.unwrap(), []);
}

/// Returns the ids of all runs, each with its status.
async fn listed(store: &Store) -> String {
    let runs = store.runs().await.unwrap().into_iter();
    let runs = runs.map(|run| format!("{:?} {}", run.run_id, run.status.name()));
    runs.collect::<Vec<_>>().join(", ")
}

/// Executes a run until it waits or ends.
async fn greet(store: &Store, run_id: &str) {
    let greeting = greeting();
    let journal = store.start_or_resume(run_id, &greeting, &"Hello").await;
    let journal = journal.unwrap();
    let mut text = journal.state().unwrap();
    greeting
        .begin()
        .with_journal(journal)
        .proceed(&mut text)
        .await
        .unwrap();
}

/// Its id can be used again, and the runs with similar ids are still there.
async fn a_removed_run_leaves_nothing<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    assert_eq!(listed(&store).await, "");
    // Ids that a pattern or a file system might take for `a`.
    for run_id in ["A", "a ", "a.", "aa", "a%", "a"] {
        greet(&store, run_id).await;
        store.deliver(run_id, "name", &", Ada").await.unwrap();
    }

    let in_use = store.resume("a", &greeting()).await.unwrap();
    let refused = S::within(folder.path()).remove("a").await.unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::InUse);
    drop(in_use);

    store.remove("a").await.unwrap();
    let again = store.remove("a").await.unwrap_err();
    assert_eq!(again.kind(), StoreErrorKind::Missing);
    let missing = store.resume("a", &greeting()).await.unwrap_err();
    assert_eq!(missing.kind(), StoreErrorKind::Missing);

    greet(&store, "aa").await;
    greet(&store, "a").await;
    assert_eq!(
        listed(&store).await,
        r#""A" open, "a" paused, "a " open, "a%" open, "a." open, "aa" ended"#
    );
}
