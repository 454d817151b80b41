use std::num::NonZeroU64;

use cogwork_journal::{FileStore, RunStatus, Store};

use crate::work::{Calls, Work, counted, flow, undisturbed};

#[tokio::test]
async fn the_file_of_a_long_run_stays_short_and_the_run_goes_on_from_its_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path()).sync(false);
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let every = NonZeroU64::new(10).unwrap();
    let journal = store.start("a", &flow, &Work::of(200)).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().journal(journal).fold_every(every);
    for _ in 0..155 {
        run.step(&mut work).await.unwrap();
        let lines = std::fs::read_to_string(store.path("a")).unwrap().lines().count();
        assert!(lines <= 1 + 1 + 10, "{lines} lines");
    }
    drop(run);

    // What a crash in the middle of a fold leaves.
    let left = folder.path().join("a.new");
    std::fs::write(&left, "half a file").unwrap();
    let journal = store.resume("a", &flow).await.unwrap();
    assert!(!left.exists());
    let mut work: Work = journal.state().unwrap();
    assert_eq!(work.numbers.len(), 150);
    assert_eq!(journal.input::<Work>().unwrap(), Work::of(200));
    flow.begin().journal(journal).fold_every(every).finish(&mut work).await.unwrap();
    assert_eq!(work, undisturbed(200).await);
    assert_eq!(calls.lock().unwrap().len(), 600);
    let runs = store.runs().await.unwrap();
    assert!(matches!(runs[0].status, RunStatus::Ended { .. }));
}
