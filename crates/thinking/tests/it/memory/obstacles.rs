//! Obstacles at the path of the file or of its helper files are refused and left unchanged, and never block the
//! caller.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use cogwork_files::Folder;
use cogwork_thinking::{FileMemory, Memory, MemoryError, MemoryLimits};

use crate::memory::support::{OBSTACLES, Theirs, at_once, swap_all};

#[test]
fn only_regular_files_are_memories_and_locks() {
    let theirs = Theirs::new();

    for obstacle in OBSTACLES {
        for name in ["notes.jsonl", "notes.jsonl.lock"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("notes.jsonl");
            let taken = folder.path().join(name);
            obstacle.put(&taken, &theirs);

            let expected = format!(
                "the memory file {}: this is {}; expected a regular file",
                taken.display(),
                obstacle.found
            );

            let error = at_once(move || FileMemory::open(path)).unwrap_err();
            assert_eq!(error.to_string(), expected);
            let place = Folder::open(folder.path()).unwrap();
            let error = FileMemory::check_place(&place, "notes.jsonl").unwrap_err();

            assert_eq!(error.to_string(), expected);
            assert_eq!(
                fs::read_dir(folder.path()).unwrap().count(),
                1,
                "nothing was created"
            );
        }
    }

    theirs.assert_untouched();
}

#[test]
fn a_place_is_checked_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let place = Folder::open(folder.path()).unwrap();
    FileMemory::check_place(&place, "notes.jsonl").unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    drop(FileMemory::open(folder.path().join("notes.jsonl")).unwrap());
    FileMemory::check_place(&place, "notes.jsonl").unwrap();
}

/// With one item kept, each one that is added makes the file be written anew.
fn small(folder: &Path) -> Result<FileMemory, MemoryError> {
    FileMemory::open_with(
        folder.join("notes.jsonl"),
        MemoryLimits::default().with_items(1),
    )
}

#[tokio::test]
async fn names_beside_the_file_are_not_written_through() {
    let theirs = Theirs::new();

    for obstacle in OBSTACLES {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "notes.jsonl.new",
            "notes.jsonl.tmp",
            "notes.jsonl~",
            ".notes.jsonl.swp",
        ] {
            obstacle.put(&folder.path().join(name), &theirs);
        }

        let memory = small(folder.path()).unwrap();
        for text in ["one", "two", "three"] {
            memory.add(text).await.unwrap();
        }

        let written = fs::read_to_string(folder.path().join("notes.jsonl")).unwrap();
        assert_eq!(written, "{\"text\":\"three\"}\n");
    }

    theirs.assert_untouched();
}

/// They have the names of new files, but a crash leaves regular files only.
#[tokio::test]
async fn what_is_named_like_a_leftover_remains() {
    let theirs = Theirs::new();

    for obstacle in OBSTACLES {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("notes.jsonl.00000000.new");
        obstacle.put(&taken, &theirs);

        let memory = small(folder.path()).unwrap();
        memory.add("one").await.unwrap();
        assert!(fs::symlink_metadata(&taken).is_ok());
    }

    theirs.assert_untouched();
}

/// Whoever can write to the folder can spoil the memory, but cannot reach out of the folder with it.
#[test]
fn links_that_are_swapped_in_at_any_time_are_not_written_through() {
    const ROUNDS: usize = 300;
    let theirs = Theirs::new();
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let done = AtomicBool::new(false);
    let mut failed = 0;

    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap_all(folder.path(), &theirs.path());
            }
        });

        for _ in 0..ROUNDS {
            let added = small(folder.path()).and_then(|memory| {
                runtime.block_on(async {
                    memory.add("one").await?;
                    memory.add("two").await
                })
            });
            failed += usize::from(added.is_err());
        }

        done.store(true, Ordering::Relaxed);
    });

    assert!(failed > 0);
    theirs.assert_untouched();
}

/// What is added to a file that has no name any more is lost, so it is an error.
#[tokio::test]
async fn a_file_that_is_gone_takes_no_items() {
    let ways: [fn(&Path); 4] = [
        |folder| fs::remove_file(folder.join("notes.jsonl")).unwrap(),
        |folder| fs::rename(folder.join("notes.jsonl"), folder.join("moved.jsonl")).unwrap(),
        |folder| {
            fs::write(folder.join("other"), "").unwrap();
            fs::rename(folder.join("other"), folder.join("notes.jsonl")).unwrap();
        },
        |folder| fs::remove_dir_all(folder).unwrap(),
    ];

    for lose in ways {
        let disk = tempfile::tempdir().unwrap();
        let folder = disk.path().join("inside");
        fs::create_dir(&folder).unwrap();
        let memory = FileMemory::open(folder.join("notes.jsonl")).unwrap();

        memory.add("kept").await.unwrap();

        lose(&folder);
        let error = memory.add("lost").await.unwrap_err();
        assert!(matches!(error, MemoryError::Lost { .. }), "{error:?}");
        let found = memory.search("kept lost", 9, 0.0).await.unwrap();

        assert_eq!(found.len(), 1);
    }
}

/// The name is so long that no new file can have a name of its own.
#[tokio::test]
async fn a_file_that_cannot_be_rewritten_takes_items_until_it_is_full() {
    let limits = MemoryLimits::default().with_items(5).with_item_bytes(20);
    let most = 2 * 5 * (6 * 20 + 16);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n".repeat(245));
    let memory = FileMemory::open_with(&path, limits).unwrap();
    let mut added = 0;

    let error = loop {
        match memory.add(&format!("note {added}")).await {
            Ok(()) => added += 1,
            Err(error) => break error,
        }

        let newest = memory.search("note", 1, 0.0).await.unwrap();
        assert_eq!(newest[0].text(), format!("note {}", added - 1));
        assert!(fs::metadata(&path).unwrap().len() <= most);
    };

    assert!(added > 10, "{added} items were added");
    assert!(matches!(error, MemoryError::Full { .. }), "{error:?}");
    let newest = memory.search("note", 1, 0.0).await.unwrap();
    assert_eq!(newest[0].text(), format!("note {}", added - 1));
    drop(memory);

    // It is opened all the same, and rewritten as soon as that is possible.
    drop(FileMemory::open_with(&path, limits).unwrap());
    let short = folder.path().join("notes.jsonl");
    fs::rename(&path, &short).unwrap();
    let memory = FileMemory::open_with(&short, limits).unwrap();
    memory.add("last").await.unwrap();
    let lines = fs::read_to_string(&short).unwrap().lines().count();
    assert!(lines <= 6, "{lines} lines are left");
}
