use crate::each::{FileStore, Tested};
use crate::work::{Calls, Work, counted, flow, recorded, told, undisturbed};

/// A file that may not grow stands in for a full disk.
#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_stops_the_run_and_it_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let job = crate::child::Job {
        store: FileStore::NAME,
        folder: folder.path().into(),
        run_id: "a".into(),
        rounds: 12,
        fold_every: 0,
        slow: 0,
    };

    let output = job
        .command_after("trap '' XFSZ; ulimit -f 2")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let line = said
        .lines()
        .find(|line| line.contains("failed:"))
        .unwrap_or(&said);
    insta::assert_snapshot!(told(line, folder.path()), @"flow `work`, node `gather`: the journal failed: runs/a.jsonl: cannot be written: File too large (os error 27)");

    let store = FileStore::new(folder.path());
    let before = recorded(&store.lines("a"));
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let journal = store.resume("a", &flow).await.unwrap();
    let mut work: Work = journal.state().unwrap();

    flow.begin()
        .with_journal(journal)
        .finish(&mut work)
        .await
        .unwrap();

    assert_eq!(work, undisturbed(12).await);
    let calls = calls.lock().unwrap();
    assert!(
        !before.is_empty()
            && before
                .iter()
                .all(|step| !calls.contains(&format!("a:{step}")))
    );

    assert_eq!(before.len() + calls.len(), 36);
}

#[tokio::test]
async fn a_fold_that_cannot_be_written_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let journal = store.start("a", &flow, &Work::of(5)).await.unwrap();
    let in_the_way = folder.path().join("a.new");

    std::fs::create_dir(&in_the_way).unwrap();

    let every = std::num::NonZeroU64::new(4).unwrap();
    let mut work = Work::of(5);
    let mut run = flow.begin().with_journal(journal).with_fold_every(every);
    let error = run.finish(&mut work).await.unwrap_err();

    assert!(error.is_journal());
    insta::assert_snapshot!(told(&error, folder.path()), @"flow `work`, node `gather`: the journal failed: runs/a.jsonl: cannot be written: this is a folder; expected a regular file");

    // Nothing is written after a write that failed.
    let again = run.finish(&mut work).await.unwrap_err();
    assert!(
        again
            .to_string()
            .ends_with("this is a folder; expected a regular file"),
        "{again}"
    );

    assert_eq!(recorded(&store.lines("a")).len(), 4);
    drop(run);

    std::fs::remove_dir(&in_the_way).unwrap();
    let journal = store.resume("a", &flow).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    flow.begin()
        .with_journal(journal)
        .with_fold_every(every)
        .finish(&mut work)
        .await
        .unwrap();

    assert_eq!(work, undisturbed(5).await);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let store = FileStore::new(folder.path().join("file"));
    let error = store
        .start("a", &flow(&counted(&Calls::default())), &Work::of(1))
        .await
        .unwrap_err();

    insta::assert_snapshot!(told(error, folder.path()), @"runs/file: the folder cannot be created: Not a directory (os error 20)");
}

#[test]
fn outside_of_a_runtime_a_run_is_refused() {
    use std::task::{Context, Poll, Waker};
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let mut context = Context::from_waker(Waker::noop());
    let polled = std::pin::pin!(store.start("a", &flow, &Work::of(1))).poll(&mut context);

    let Poll::Ready(Err(error)) = polled else {
        panic!("{polled:?}")
    };

    insta::assert_snapshot!(told(error, folder.path()), @"runs/a.jsonl: a journal needs a tokio runtime, and there is none here");
}

#[test]
fn a_runtime_that_ends_in_the_middle_loses_nothing_that_was_used() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };

    let first = runtime();
    let journal = first
        .block_on(store.start("a", &flow, &Work::of(3)))
        .unwrap();
    let mut work = Work::of(3);
    let mut run = flow.begin().with_journal(journal);

    first.block_on(run.step(&mut work)).unwrap();
    drop(first);

    // Whatever was used is on record, and the run is free.
    let error = runtime().block_on(run.finish(&mut work)).unwrap_err();
    insta::assert_snapshot!(told(error, folder.path()), @"flow `work`, node `gather`: the journal failed: runs/a.jsonl: writing was interrupted: the runtime shut down");
    drop(run);
    let resumed = async {
        let journal = store.resume("a", &flow).await.unwrap();
        let mut work: Work = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut work).await.unwrap();
    };
    runtime().block_on(resumed);
    // One call was in progress.
    assert_eq!(calls.lock().unwrap().len(), 10);
    assert_eq!(recorded(&store.lines("a")).len(), 9);
}
