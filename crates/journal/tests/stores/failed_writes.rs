use crate::each::{FileStore, Tested, for_each_store_on_disk};
use crate::work::{Calls, Work, counted, flow, recorded, told, undisturbed};

#[cfg(unix)]
for_each_store_on_disk! {
    a_full_disk_stops_the_run_and_it_goes_on_when_there_is_room,
    a_read_only_record_is_reported_and_left_as_it_is,
}

/// A file that may not grow stands in for a full disk.
#[cfg(unix)]
async fn a_full_disk_stops_the_run_and_it_goes_on_when_there_is_room<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    // An empty database is as large as many runs in files.
    let (rounds, blocks) = match S::NAME {
        "files" => (12, 2),
        _ => (40, 400),
    };
    let job = job::<S>(folder.path(), rounds);

    let limit = format!("trap '' XFSZ; ulimit -f {blocks}");
    let output = job.command_after(&limit).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let failed = |line: &&str| line.contains("failed:");
    let line = said.lines().find(failed).unwrap_or(&said);
    let problem = match S::NAME {
        "files" => "runs/a.jsonl: cannot be written: File too large (os error 27)",
        _ => "runs/runs.db: cannot be written: disk I/O error",
    };
    assert!(told(line, folder.path()).ends_with(problem), "{line}");

    let store = S::within(folder.path());
    let before = recorded(&store.lines("a"));
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let journal = store.resume("a", &flow).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut work).await.unwrap();

    assert_eq!(work, undisturbed(rounds).await);
    let calls = calls.lock().unwrap();
    let is_repeated = |step: &String| calls.contains(&format!("a:{step}"));
    assert!(!before.is_empty() && !before.iter().any(is_repeated));
    assert_eq!(before.len() + calls.len(), 3 * rounds);
}

/// Another user cannot write the file with the record, and everything else.
#[cfg(unix)]
async fn a_read_only_record_is_reported_and_left_as_it_is<S: Tested>() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let journal = store.start("a", &flow, &Work::of(3)).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.step(&mut work).await.unwrap();
    drop(run);
    while store.is_in_use("a").await.unwrap() {}
    drop(store);

    let (place, _) = S::PLACES.iter().find(|place| place.1 == "STORE").unwrap();
    let (_, record) = place.split_once('/').unwrap();
    let mode = |path: &std::path::Path, mode| set_permissions(path, Permissions::from_mode(mode));
    let mut paths = vec![folder.path().to_owned()];
    while let Some(path) = paths.pop() {
        let is_record = path.file_name().is_some_and(|name| name == record);
        mode(&path, if is_record { 0o444 } else { 0o777 }).unwrap();
        let inside = std::fs::read_dir(&path).into_iter().flatten();
        paths.extend(inside.map(|entry| entry.unwrap().path()));
    }

    let mut command = job::<S>(folder.path(), 3).command();
    if folder.path().metadata().unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let said = S::told(said, folder.path());
    let problem = "STORE: cannot be opened: Permission denied (os error 13)";
    assert!(said.contains(problem), "{said}");

    mode(&folder.path().join(record), 0o600).unwrap();
    let store = S::within(folder.path());
    let journal = store.resume("a", &flow).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut work).await.unwrap();
    assert_eq!(work, undisturbed(3).await);
}

fn job<S: Tested>(folder: &std::path::Path, rounds: usize) -> crate::child::Job {
    crate::child::Job {
        store: S::NAME,
        folder: folder.into(),
        run_id: "a".into(),
        rounds,
        slow: 0,
    }
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
