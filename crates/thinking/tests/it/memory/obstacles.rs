//! Obstacles at the path of the file or of its helper files are refused and left unchanged, and never block the
//! caller.

use std::fs;

use cogwork_thinking::FileMemory;

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
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing was created"
        );
    }

    theirs.assert_untouched();
}
