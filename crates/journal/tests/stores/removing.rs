//! Removing a run.

use cogwork_journal::Store;

use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow, undisturbed};

for_each_store! {
    a_removed_run_is_gone_and_its_id_can_be_used_again,
    a_run_in_use_is_not_removed,
    a_run_that_does_not_exist_is_not_removed,
    a_damaged_run_can_be_removed,
    other_runs_stay,
}

async fn finish(store: &impl Store, run_id: &str, calls: &Calls) -> Work {
    let flow = flow(&counted(calls));
    let journal = store.start_or_resume(run_id, &flow, &Work::of(2)).await;
    let journal = journal.unwrap();
    let mut work = journal.state().unwrap();

    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut work).await.unwrap();
    work
}

async fn a_removed_run_is_gone_and_its_id_can_be_used_again<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();

    finish(&store, "a", &calls).await;
    store.remove("a").await.unwrap();

    assert_eq!(store.runs().await.unwrap(), []);
    let error = store.resume("a", &flow(&counted(&calls))).await;
    assert!(error.unwrap_err().is_missing());

    let before = calls.lock().unwrap().len();
    assert_eq!(finish(&store, "a", &calls).await, undisturbed(2).await);
    assert_eq!(calls.lock().unwrap().len(), 2 * before);
}

async fn a_run_in_use_is_not_removed<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();

    assert!(store.remove("a").await.unwrap_err().is_locked());

    let mut work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut work).await.unwrap();
    drop(run);
    assert_eq!(work, undisturbed(2).await);
    store.remove("a").await.unwrap();
}

async fn a_run_that_does_not_exist_is_not_removed<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    assert!(store.remove("a").await.unwrap_err().is_missing());

    finish(&store, "b", &Calls::default()).await;
    assert!(store.remove("a").await.unwrap_err().is_missing());
}

async fn a_damaged_run_can_be_removed<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    finish(&store, "a", &calls).await;

    let lines = store.lines("a").replace("outcome", "income");
    store.rewrite("a", &lines);
    let error = store.resume("a", &flow(&counted(&calls))).await;
    assert!(error.unwrap_err().is_damaged());

    store.remove("a").await.unwrap();
    assert_eq!(store.runs().await.unwrap(), []);
}

async fn other_runs_stay<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    finish(&store, "a", &calls).await;
    finish(&store, "b", &calls).await;

    store.remove("a").await.unwrap();

    let before = calls.lock().unwrap().len();
    assert_eq!(finish(&store, "b", &calls).await, undisturbed(2).await);
    assert_eq!(calls.lock().unwrap().len(), before);
}
