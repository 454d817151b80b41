//! Obstacles at the path of a store's file are refused and left unchanged. Links aren't followed, and nothing
//! blocks the caller.

use std::num::NonZeroU64;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cogwork_journal::{FileStore, RunStatus, StoreError};

use crate::each::{OnDisk, Tested, for_each_store_on_disk};
use crate::support::{OBSTACLES, Theirs, at_once, swap_all};
use crate::work::{Calls, Work, counted, flow, undisturbed};

for_each_store_on_disk! {
    nothing_but_a_file_takes_the_place_of_one_when_a_run_starts,
    nothing_but_a_file_takes_the_place_of_one_when_a_run_is_there,
    a_link_that_is_swapped_in_while_a_run_is_at_work_leads_nowhere,
    a_link_in_place_of_what_the_store_has_open_leads_nowhere,
}

/// What a store does with the run `a`.
type Operation<S> = fn(S) -> Result<(), String>;

fn operations<S: OnDisk>() -> [(&'static str, Operation<S>); 4] {
    [
        ("start", |store| {
            done(store.start("a", &work(), &Work::of(2))).map(drop)
        }),
        ("resume", |store| done(store.resume("a", &work())).map(drop)),
        ("deliver", |store| done(store.deliver("a", "name", &1))),
        ("list", |store| {
            match done(store.runs())?.pop().map(|run| run.status) {
                Some(RunStatus::Damaged { error }) => Err(error),
                _ => Ok(()),
            }
        }),
    ]
}

fn done<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work).map_err(|error| error.to_string())
}

fn work() -> cogwork_flow::Flow<Work> {
    flow(&counted(&Calls::default()))
}

/// Does something with a store in this folder.
fn attempt<S: OnDisk>(folder: &Path, operation: Operation<S>) -> Result<(), String> {
    let store = S::within(folder).unsynced();
    at_once(move || operation(store))
}

async fn nothing_but_a_file_takes_the_place_of_one_when_a_run_starts<S: OnDisk>() {
    for name in S::NAMES {
        for obstacle in OBSTACLES {
            // A folder is what is expected there.
            let is_folder = name.ends_with("-locks");
            if is_folder && obstacle.found == "a folder" {
                continue;
            }

            let scratch = tempfile::tempdir().unwrap();
            let theirs = Theirs::new();
            let place = scratch.path().join(name);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            obstacle.put(&place, &theirs);

            let before = place.symlink_metadata().unwrap().file_type();

            let [start, others @ ..] = operations::<S>();
            let error = attempt(scratch.path(), start.1).unwrap_err();
            let expected = if is_folder {
                "a folder"
            } else {
                "a regular file"
            };

            let told = format!("this is {}; expected {expected}", obstacle.found);
            assert!(error.ends_with(&told), "{name}: {error}");
            assert!(
                error.starts_with(&place.display().to_string()),
                "{name}: {error}"
            );

            for (_, operation) in others {
                let _ = attempt(scratch.path(), operation);
            }

            assert_eq!(place.symlink_metadata().unwrap().file_type(), before);
            theirs.assert_untouched();
        }
    }
}

async fn nothing_but_a_file_takes_the_place_of_one_when_a_run_is_there<S: OnDisk>() {
    for name in S::NAMES {
        for obstacle in OBSTACLES {
            let scratch = tempfile::tempdir().unwrap();
            let theirs = Theirs::new();
            attempt::<S>(scratch.path(), operations()[0].1).unwrap();
            let place = scratch.path().join(name);
            let _ = std::fs::remove_file(&place);
            let _ = std::fs::remove_dir_all(&place);

            obstacle.put(&place, &theirs);
            let before = place.symlink_metadata().unwrap().file_type();

            for (what, operation) in operations::<S>() {
                let told = attempt(scratch.path(), operation);
                println!("{} as {name}, {what}: {told:?}", obstacle.found);
                assert_eq!(
                    place.symlink_metadata().unwrap().file_type(),
                    before,
                    "{name}, {what}"
                );

                theirs.assert_untouched();
            }
        }
    }
}

/// Puts links where no file is and removes them again, `times` times.
fn swap_links(folder: &Path, to: &Path, names: &[&str], times: usize) {
    for name in names.iter().cycle().take(times) {
        let place = folder.join(name);

        // A file that is there already is the store's own.
        if symlink(to, &place).is_ok() {
            std::thread::yield_now();
            if place.is_symlink() {
                let _ = std::fs::remove_file(&place);
            }
        }

        // Otherwise no run would ever end.
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Goes on with the run to its end, with a fold now and then.
async fn goes_on<S: OnDisk>(store: &S, end: &Work) -> Result<(), String> {
    let flow = work();
    let journal = store
        .start_or_resume("a", &flow, &Work::of(30))
        .await
        .map_err(|error| error.to_string())?;
    let mut work: Work = journal.state().map_err(|error| error.to_string())?;
    let run = flow
        .begin()
        .with_journal(journal)
        .with_fold_every(NonZeroU64::MIN);

    { run }
        .finish(&mut work)
        .await
        .map_err(|error| error.to_string())?;
    assert_eq!(&work, end);
    Ok(())
}

async fn a_link_that_is_swapped_in_while_a_run_is_at_work_leads_nowhere<S: OnDisk>() {
    let theirs = Theirs::new();
    let end = undisturbed(30).await;

    for _ in 0..10 {
        let scratch = tempfile::tempdir().unwrap();
        let store = S::within(scratch.path()).unsynced();
        let folder = scratch.path().to_owned();
        let to = theirs.path();
        let swapper = std::thread::spawn(move || swap_links(&folder, &to, S::NAMES, 100));

        while !swapper.is_finished() {
            let Err(error) = goes_on(&store, &end).await else {
                if S::NAME == FileStore::NAME {
                    let _ = std::fs::remove_file(store.file("a"));
                }
                continue;
            };

            // Which error it is depends on when the link came.
            let folder = scratch.path().display().to_string();
            assert!(error.contains(&folder), "{error}");
        }

        swapper.join().unwrap();
        goes_on_after_swaps(&store, &end).await;
        theirs.assert_untouched();
    }
}

/// What was opened during the swaps may still hold its lock, and whether it was replaced is seen
/// when it is used the next time. Each attempt waits for a lock.
async fn goes_on_after_swaps<S: OnDisk>(store: &S, end: &Work) {
    let mut result = goes_on(store, end).await;

    for _ in 0..20 {
        let is_left_over = result.as_ref().is_err_and(|error| {
            error.contains("locked") || error.contains("replaced while it was in use")
        });

        if !is_left_over {
            break;
        }

        result = goes_on(store, end).await;
    }

    result.unwrap();
}

async fn a_link_in_place_of_what_the_store_has_open_leads_nowhere<S: OnDisk>() {
    let scratch = tempfile::tempdir().unwrap();
    let theirs = Theirs::new();
    let end = undisturbed(30).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let folder = scratch.path().to_owned();
    let to = theirs.path();
    let over = Arc::clone(&is_over);

    let swapper = std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) {
            swap_all(&folder, &to);
            std::thread::yield_now();
        }
    });

    for _ in 0..100 {
        let store = S::within(scratch.path()).unsynced();

        // It cannot come to its end but by luck.
        let _ = goes_on(&store, &end).await;
        drop(store);
        for entry in std::fs::read_dir(scratch.path()).unwrap().flatten() {
            let _ = std::fs::remove_file(entry.path());
        }
    }

    is_over.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    theirs.assert_untouched();
}
