use std::path::Path;

use cogwork_journal::FileStore;

use crate::child::{Job, wait_until_it_runs};
use crate::each::{Tested, for_each_store_on_disk};
use crate::work::{Calls, Work, counted, flow, undisturbed};

for_each_store_on_disk! {
    a_second_runner_in_the_same_process_is_refused_until_the_first_is_done,
    a_second_process_is_told_who_has_the_run_and_gets_it_when_that_is_gone,
    of_two_runners_with_the_lock_file_removed_one_alone_comes_to_the_end,
}

async fn a_second_runner_in_the_same_process_is_refused_until_the_first_is_done<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let first = store.start("a", &flow, &Work::of(2)).await.unwrap();

    let error = store.resume("a", &flow).await.unwrap_err();
    assert!(error.is_locked());
    insta::assert_snapshot!(S::told(error, folder.path()), @"the run `a` is in use in this process, with the lock on LOCK: it can be resumed after that has stopped");
    assert!(
        store
            .deliver("a", "name", &1)
            .await
            .unwrap_err()
            .is_locked()
    );

    assert!(
        store
            .start("a", &flow, &Work::of(2))
            .await
            .unwrap_err()
            .is_locked()
    );

    // Other runs go on.
    store.start("b", &flow, &Work::of(2)).await.unwrap();

    drop(first);
    store.resume("a", &flow).await.unwrap();
}

async fn a_second_process_is_told_who_has_the_run_and_gets_it_when_that_is_gone<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let job = Job {
        store: S::NAME,
        folder: folder.path().into(),
        run_id: "a".into(),
        rounds: 3,
        fold_every: 0,
        slow: 60_000,
    };

    let mut child = job.command().spawn().unwrap();
    wait_until_it_runs(&mut child);
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));

    let error = store.resume("a", &flow).await.unwrap_err();
    assert!(error.is_locked());
    let line = S::told(error, folder.path()).replace(&child.id().to_string(), "PID");
    insta::assert_snapshot!(line, @"the run `a` is in use by the process PID, with the lock on LOCK: it can be resumed after that has stopped");

    child.kill().unwrap();
    child.wait().unwrap();
    let journal = store.resume("a", &flow).await.unwrap();
    let mut work: Work = journal.state().unwrap();

    flow.begin()
        .with_journal(journal)
        .finish(&mut work)
        .await
        .unwrap();

    assert_eq!(work, undisturbed(3).await);
}

/// Removes whatever keeps others out by being locked, as somebody might who tidies up.
fn remove_locks(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            remove_locks(&path);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "lock")
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Another process works on a run, and folds it after each step or never. Answers what it said at
/// the end, and what a second runner came to that is let in.
async fn two_runners<S: Tested>(folder: &Path, fold_every: u64) -> (String, Option<String>) {
    let job = Job {
        store: S::NAME,
        folder: folder.into(),
        run_id: "a".into(),
        rounds: 40,
        fold_every,
        slow: 15,
    };

    let mut child = job.command().spawn().unwrap();
    wait_until_it_runs(&mut child);
    let store = S::within(folder);
    let flow = flow(&counted(&Calls::default()));

    let mut second = None;
    let mut attempts = 0;
    while child.try_wait().unwrap().is_none() && second.is_none() {
        remove_locks(folder);
        match store.resume("a", &flow).await {
            // The lines themselves are locked: the first one has come to its end.
            Ok(_) if cfg!(unix) && S::NAME == FileStore::NAME => {
                assert!(child.wait().unwrap().success());
            }
            Ok(journal) => {
                let mut work: Work = journal.state().unwrap();
                second = Some(flow.begin().with_journal(journal).finish(&mut work).await);
            }
            Err(error) => {
                assert!(error.is_locked() || error.is_gone(), "{error}");
                attempts += 1;
            }
        }
    }

    println!(
        "{}, folded every {fold_every} steps: {attempts} attempts",
        S::NAME
    );
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();

    (
        said,
        second.map(|ended| ended.map_or_else(|error| error.to_string(), |_| "it ended".to_owned())),
    )
}

async fn of_two_runners_with_the_lock_file_removed_one_alone_comes_to_the_end<S: Tested>() {
    let end = undisturbed(40).await;
    for fold_every in [0, 1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = two_runners::<S>(folder.path(), fold_every).await;
        let first_ended = first
            .lines()
            .any(|line| serde_json::from_str::<Work>(line).is_ok());
        let second_ended = second.as_deref() == Some("it ended");

        assert!(first_ended != second_ended, "{first} {second:?}");
        assert!(
            first_ended || !cfg!(unix) || S::NAME != FileStore::NAME,
            "{first}"
        );

        // What is on record is that of the one who came to the end.
        let calls = Calls::default();
        let flow = flow(&counted(&calls));
        let journal = S::within(folder.path()).resume("a", &flow).await.unwrap();
        let mut work: Work = journal.state().unwrap();

        flow.begin()
            .with_journal(journal)
            .finish(&mut work)
            .await
            .unwrap();

        assert_eq!(work, end);
        assert_eq!(calls.lock().unwrap().len(), 0);
    }
}
