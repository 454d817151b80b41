//! Runs on a disk that cannot be written: they can be listed, and nothing else.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cogwork_journal::{FileStore, Store};

use crate::each::{Tested, for_each_store_on_disk};
use crate::work::{Calls, Work, counted, flow, greeting};

for_each_store_on_disk! {
    runs_on_a_disk_that_cannot_be_written_are_listed,
}

/// A run that has ended, one that waits, and one that has an answer.
async fn three_runs(store: &impl Store) {
    let work = flow(&counted(&Calls::default()));
    let greeting = greeting();
    let journal = store.start("ended", &work, &Work::of(2)).await.unwrap();
    work.begin()
        .with_journal(journal)
        .finish(&mut Work::of(2))
        .await
        .unwrap();

    for run_id in ["waits", "answered"] {
        let journal = store.start(run_id, &greeting, &"Hello").await.unwrap();
        greeting
            .begin()
            .with_journal(journal)
            .finish(&mut String::new())
            .await
            .unwrap_err();
    }

    store.deliver("answered", "name", &"Ada").await.unwrap();
}

async fn listing(store: &impl Store) -> String {
    let runs = store.runs().await.unwrap();
    runs.into_iter()
        .map(|run| {
            format!(
                "{}: {} entries, {:?}\n",
                run.run_id, run.entries, run.status
            )
        })
        .collect()
}

/// Permissions don't bind root, so another user reads. What a user may not write represents
/// what nobody can: SQLite treats both alike.
fn listed_by_another<S: Tested>(scratch: &Path, folder: &Path) -> String {
    let program = scratch.join("program");
    if !program.exists() {
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    }

    let mut command = Command::new(&program);
    command.args([
        "--exact",
        "read_only::lists",
        "--ignored",
        "--nocapture",
        "--quiet",
    ]);

    command
        .env("LIST_STORE", S::NAME)
        .env("LIST_FOLDER", folder)
        .current_dir("/");
    if std::fs::metadata(&program).unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534);
    }

    let output = loop {
        match command.output() {
            // A process that another test starts has the copy open until it is itself.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::yield_now()
            }
            output => break output.unwrap(),
        }
    };

    let said = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    let (_, said) = said
        .split_once("THE RUNS\n")
        .unwrap_or_else(|| unreachable!("{said} {complaint}"));

    said.split_once("THE END").unwrap().0.to_owned()
}

#[test]
#[ignore = "the other process of other tests"]
fn lists() {
    let Some(folder) = std::env::var_os("LIST_FOLDER").map(PathBuf::from) else {
        return;
    };

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    match std::env::var("LIST_STORE").unwrap().as_str() {
        FileStore::NAME => runtime.block_on(lists_and_cannot_write(FileStore::within(&folder))),
        #[cfg(feature = "sqlite")]
        _ => runtime.block_on(lists_and_cannot_write(
            cogwork_journal::SqliteStore::within(&folder),
        )),
        #[cfg(not(feature = "sqlite"))]
        store => panic!("no store {store}"),
    }
}

fn is_refused(error: &str) -> bool {
    [
        "Permission denied",
        "Read-only file system",
        "readonly database",
    ]
    .iter()
    .any(|why| error.contains(why))
}

async fn lists_and_cannot_write(store: impl Tested) {
    let flow = flow(&counted(&Calls::default()));
    let error = store
        .start("new", &flow, &Work::of(1))
        .await
        .unwrap_err()
        .to_string();

    assert!(is_refused(&error), "{error}");
    let error = store.resume("ended", &flow).await.unwrap_err().to_string();
    assert!(is_refused(&error), "{error}");
    println!("THE RUNS\n{}THE END", listing(&store).await);

    // Not only once.
    listing(&store).await;
}

/// Lets nobody write into a folder, and others read it.
fn protect(folder: &Path, is_protected: bool) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            protect(&path, is_protected);
        } else {
            std::fs::set_permissions(
                path,
                Permissions::from_mode(if is_protected { 0o444 } else { 0o644 }),
            )
            .unwrap();
        }
    }

    let mode = if is_protected { 0o555 } else { 0o755 };
    std::fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = names
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();

    names
}

/// As it is when the store is closed, while it is open, and as a crash leaves it, with or without
/// the files that SQLite keeps beside a database.
async fn runs_on_a_disk_that_cannot_be_written_are_listed<S: Tested>() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::set_permissions(scratch.path(), Permissions::from_mode(0o755)).unwrap();
    let folder = scratch.path().join("runs");
    let store = S::within(&folder);

    three_runs(&store).await;
    let expected = listing(&store).await;
    assert_eq!(expected.lines().count(), 3);

    let crashed = |name: &str, left_out: &str| {
        let copy = scratch.path().join(name);
        std::fs::create_dir(&copy).unwrap();
        for name in names(&folder) {
            if folder.join(&name).is_file() && !name.ends_with(left_out) {
                std::fs::copy(folder.join(&name), copy.join(&name)).unwrap();
            }
        }

        copy
    };

    let with_all = crashed("with all", ".lock");
    let without_shm = crashed("without shm", "-shm");
    let at_work = folder.clone();
    let mut states = vec![
        ("after a crash", with_all),
        ("with the log alone", without_shm),
        ("at work", at_work),
    ];

    for (what, folder) in &states {
        protect(folder, true);
        let before = names(folder);
        assert_eq!(
            listed_by_another::<S>(scratch.path(), folder),
            expected,
            "{what}"
        );

        assert_eq!(names(folder), before, "{what}");
        protect(folder, false);
    }

    // The last connection is closed off the async threads.
    drop(store);
    states.truncate(0);
    while names(&folder).iter().any(|name| name.ends_with("-wal")) {
        tokio::task::yield_now().await;
    }

    protect(&folder, true);
    assert_eq!(
        listed_by_another::<S>(scratch.path(), &folder),
        expected,
        "closed"
    );

    protect(&folder, false);
}
