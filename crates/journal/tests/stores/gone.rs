//! Records that are removed while their run is executed: the run stops with an error.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_flow::{Flow, RunError};
use cogwork_journal::StoreError;

#[cfg(feature = "sqlite")]
use crate::each::Tested;
use crate::each::{OnDisk, for_each_store_on_disk};
use crate::work::{Call, Calls, Work, counted, flow, undisturbed};

for_each_store_on_disk! {
    a_run_whose_record_is_taken_away_stops_at_its_next_line,
    a_fold_puts_nothing_in_the_place_of_what_is_not_ours,
    a_folder_that_was_removed_is_made_anew_for_the_next_run,
    runs_that_were_taken_away_are_not_listed,
    the_next_run_in_the_place_of_one_is_left_alone,
}

/// What somebody does to the folder of a store, or to the file of a run in it.
type Mischief = fn(&Path, &Path);

const MISCHIEF: [(&str, Mischief); 5] = [
    ("the folder is removed", |folder, _| {
        std::fs::remove_dir_all(folder).unwrap()
    }),
    ("the folder is moved", |folder, _| {
        std::fs::rename(folder, folder.with_extension("moved")).unwrap()
    }),
    ("the folder is replaced by a copy", |folder, _| {
        let moved = folder.with_extension("moved");
        std::fs::rename(folder, &moved).unwrap();
        copy(&moved, folder);
    }),
    ("the file is removed", |_, file| {
        std::fs::remove_file(file).unwrap()
    }),
    ("the file is replaced by a copy", |_, file| {
        let other = file.with_extension("other");
        std::fs::copy(file, &other).unwrap();
        std::fs::rename(other, file).unwrap();
    }),
];

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let from = entry.as_ref().unwrap().path();
        let to = to.join(entry.as_ref().unwrap().file_name());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
}

/// Adds one, and does something at the call of this number.
fn disturbed(at: usize, mischief: impl Fn() + Send + Sync + 'static) -> Call {
    let calls = AtomicUsize::new(0);
    let mischief = Arc::new(mischief);
    Arc::new(move |n| {
        let is_now = calls.fetch_add(1, Ordering::Relaxed) + 1 == at;
        let mischief = Arc::clone(&mischief);
        Box::pin(async move {
            if is_now {
                mischief();
            }
            Ok(n + 1)
        })
    })
}

fn is_gone(error: &RunError, folder: &Path) {
    let cause: &StoreError = error.downcast_ref().unwrap();
    assert!(cause.is_gone(), "{error}");
    let text = cause.to_string();
    assert!(text.starts_with(&folder.display().to_string()), "{text}");
    assert!(
        text.ends_with(
            "was removed, moved or replaced while it was in use; nothing more is recorded"
        ),
        "{text}"
    );
}

/// Four rounds are twelve calls, of which the last one is followed by the end of the run alone.
const ROUNDS: usize = 4;
const CALLS: usize = 3 * ROUNDS;

async fn a_run_whose_record_is_taken_away_stops_at_its_next_line<S: OnDisk>() {
    for (what, mischief) in MISCHIEF {
        for at in [1, 2, ROUNDS + 2, CALLS] {
            let scratch = tempfile::tempdir().unwrap();
            let folder = scratch.path().join("runs");
            let store = S::within(&folder).unsynced();
            let there = folder.clone();
            let file = store.file("a");
            let flow = flow(&disturbed(at, move || mischief(&there, &file)));

            let journal = store.start("a", &flow, &Work::of(ROUNDS)).await.unwrap();
            let mut work = Work::of(ROUNDS);
            let mut run = flow.begin().with_journal(journal);
            let error = run.finish(&mut work).await.unwrap_err();

            println!("{what} at call {at}: {error}");
            is_gone(&error, &folder);

            // And nothing is recorded after that.
            is_gone(&run.finish(&mut work).await.unwrap_err(), &folder);
        }
    }
}

/// A run that waits, and is then taken away before somebody answers.
async fn a_fold_puts_nothing_in_the_place_of_what_is_not_ours<S: OnDisk>() {
    for (what, mischief) in MISCHIEF {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("runs");
        let store = S::within(&folder).unsynced();
        let flow = flow(&counted(&Calls::default()));
        let journal = store.start("a", &flow, &Work::of(ROUNDS)).await.unwrap();
        let mut work = Work::of(ROUNDS);
        let mut run = flow
            .begin()
            .with_journal(journal)
            .with_fold_every(NonZeroU64::MIN);

        run.step(&mut work).await.unwrap();

        let file = store.file("a");
        mischief(&folder, &file);
        let before = std::fs::read(&file).ok();
        let error = run.step(&mut work).await.unwrap_err();

        println!("{what}: {error}");
        is_gone(&error, &folder);
        drop(run);
        assert!(
            std::fs::read(&file).ok() == before,
            "{what}: it was changed"
        );
    }
}

async fn a_folder_that_was_removed_is_made_anew_for_the_next_run<S: OnDisk>() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("runs");
    let store = S::within(&folder);
    let there = folder.clone();
    let disturbed = flow(&disturbed(3, move || {
        std::fs::remove_dir_all(&there).unwrap()
    }));
    let journal = store
        .start("a", &disturbed, &Work::of(ROUNDS))
        .await
        .unwrap();
    let error = disturbed
        .begin()
        .with_journal(journal)
        .finish(&mut Work::of(ROUNDS))
        .await
        .unwrap_err();

    is_gone(&error, &folder);

    let flow = flow(&counted(&Calls::default()));
    assert!(store.resume("a", &flow).await.unwrap_err().is_missing());
    for run_id in ["a", "b"] {
        let journal = store.start(run_id, &flow, &Work::of(ROUNDS)).await.unwrap();
        let mut work = Work::of(ROUNDS);
        flow.begin()
            .with_journal(journal)
            .finish(&mut work)
            .await
            .unwrap();

        assert_eq!(work, undisturbed(ROUNDS).await);
    }

    assert_eq!(store.runs().await.unwrap().len(), 2);
    assert_eq!(S::within(&folder).runs().await.unwrap().len(), 2);
}

async fn runs_that_were_taken_away_are_not_listed<S: OnDisk>() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("runs");
    let store = S::within(&folder);
    let flow = flow(&counted(&Calls::default()));
    let held = store.start("a", &flow, &Work::of(ROUNDS)).await.unwrap();

    assert_eq!(store.runs().await.unwrap().len(), 1);

    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(store.runs().await.unwrap(), []);
    assert!(store.resume("a", &flow).await.unwrap_err().is_missing());
    assert!(
        store
            .deliver("a", "name", &1)
            .await
            .unwrap_err()
            .is_missing()
    );

    drop(held);
}

/// A run in a folder that was removed goes on while another of the same id and length takes its
/// place.
async fn the_next_run_in_the_place_of_one_is_left_alone<S: OnDisk>() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("runs");
    let first = S::within(&folder);
    let second = S::within(&folder);

    for store in [&first, &second] {
        let flow: Flow<Work> = flow(&counted(&Calls::default()));
        let old = first.start("a", &flow, &Work::of(ROUNDS)).await.unwrap();
        let mut old = flow.begin().with_journal(old);
        let mut old_work = Work::of(ROUNDS);

        old.step(&mut old_work).await.unwrap();
        std::fs::remove_dir_all(&folder).unwrap();

        let new = store.start("a", &flow, &Work::of(ROUNDS)).await.unwrap();
        let mut new = flow.begin().with_journal(new);
        let mut work = Work::of(ROUNDS);
        new.step(&mut work).await.unwrap();

        let lines = store.lines("a");
        is_gone(&old.step(&mut old_work).await.unwrap_err(), &folder);
        drop(old);
        assert_eq!(store.lines("a"), lines);
        new.finish(&mut work).await.unwrap();
        assert_eq!(work, undisturbed(ROUNDS).await);
        drop(new);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

/// What SQLite writes first is the log beside the database.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn the_files_beside_a_database_are_missed_too() {
    use cogwork_journal::{SqliteStore, Store};

    for ending in ["-wal", "-shm"] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("runs");
        let store = SqliteStore::within(&folder).unsynced();
        let beside = folder.join(format!("runs.db{ending}"));
        let flow = flow(&disturbed(3, move || {
            std::fs::remove_file(&beside).unwrap()
        }));
        let journal = store.start("a", &flow, &Work::of(ROUNDS)).await.unwrap();
        let error = flow
            .begin()
            .with_journal(journal)
            .finish(&mut Work::of(ROUNDS))
            .await
            .unwrap_err();

        is_gone(&error, &folder);
        assert!(
            error.to_string().contains(&format!("runs.db{ending}: ")),
            "{error}"
        );
    }
}
