//! Removing a run whose record is damaged.

use cogwork_journal::{Store, StoreErrorKind};

use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow};

for_each_store! {
    a_damaged_run_can_be_removed,
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
