use std::num::NonZeroU64;

use cogwork_journal::RunStatus;

use crate::each::{FileStore, Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow, undisturbed};

for_each_store! {
    the_record_of_a_long_run_stays_short_and_the_run_goes_on_from_its_snapshot,
}

async fn the_record_of_a_long_run_stays_short_and_the_run_goes_on_from_its_snapshot<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let every = NonZeroU64::new(10).unwrap();
    let journal = store.start("a", &flow, &Work::of(200)).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal).with_fold_every(every);

    for _ in 0..155 {
        run.step(&mut work).await.unwrap();
        let lines = store.lines("a").lines().count();
        assert!(lines <= 1 + 1 + 10, "{lines} lines");
    }

    drop(run);

    let journal = store.resume("a", &flow).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    assert_eq!(work.numbers.len(), 150);
    assert_eq!(journal.input::<Work>().unwrap(), Work::of(200));
    flow.begin()
        .with_journal(journal)
        .with_fold_every(every)
        .finish(&mut work)
        .await
        .unwrap();

    assert_eq!(work, undisturbed(200).await);
    assert_eq!(calls.lock().unwrap().len(), 600);
    let runs = store.runs().await.unwrap();
    assert!(matches!(runs[0].status, RunStatus::Ended { .. }));
}

#[tokio::test]
async fn what_a_crash_in_the_middle_of_a_fold_leaves_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let flow = flow(&counted(&Calls::default()));
    store.start("a", &flow, &Work::of(1)).await.unwrap();

    let left = folder.path().join("a.new");
    std::fs::write(&left, "half a file").unwrap();
    store.resume("a", &flow).await.unwrap();
    assert!(!left.exists());
}
