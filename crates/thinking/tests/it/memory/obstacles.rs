//! Obstacles at the path of the file or of its helper files are refused and left unchanged, and never block the
//! caller.

use std::fs;
use std::path::Path;

use cogwork_text::files::Folder;
use cogwork_thinking::{FileMemory, Memory, MemoryError, MemoryLimits};

use crate::memory::support::{OBSTACLES, Theirs, at_once};

#[test]
fn only_regular_files_are_memories() {
    let theirs = Theirs::new();

    for obstacle in OBSTACLES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.jsonl");
        obstacle.put(&path, &theirs);

        let expected = format!(
            "the memory file {}: this is {}; expected a regular file",
            path.display(),
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
        MemoryLimits {
            items: 1,
            ..MemoryLimits::default()
        },
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
