//! Obstacles at the path of a file are refused and left unchanged, and never block the caller.

use std::fmt::Display;
use std::time::Duration;

use cogwork_text::files::{Access, Folder, LockFile};

use super::Scratch;
use crate::support::{OBSTACLES, Theirs, at_once};

type Operation = fn(&Folder) -> Result<(), String>;

fn told<T, E: Display>(done: Result<T, E>) -> Result<(), String> {
    done.map(drop).map_err(|error| error.to_string())
}

/// Each way to open or replace what has the name `it`.
const OPERATIONS: [(&str, Operation); 12] = [
    ("look", |folder| told(folder.has_file("it"))),
    ("read", |folder| told(folder.read_text_file("it", 1024))),
    ("open to read", |folder| {
        told(folder.open_file("it", Access::Read))
    }),
    ("open to write", |folder| {
        told(folder.open_file("it", Access::Write))
    }),
    ("open to append", |folder| {
        told(folder.open_file("it", Access::Append))
    }),
    ("open or create", |folder| {
        told(folder.open_or_create("it", Access::Append))
    }),
    ("replace by another one", |folder| {
        told(folder.replace_by("it", "other", b"written"))
    }),
    ("replace another one by it", |folder| {
        told(folder.replace_by("other", "it", b"written"))
    }),
    ("ask for its length", |folder| {
        told(folder.file_length("it"))
    }),
    ("clear it away", |folder| told(folder.remove_leftover("it"))),
    ("replace", |folder| told(folder.replace("it", b"written"))),
    ("lock", |folder| {
        told(LockFile::lock_within(folder, "it", Duration::ZERO))
    }),
];

#[test]
fn only_regular_files_are_opened_and_replaced() {
    let theirs = Theirs::new();

    for obstacle in OBSTACLES {
        let scratch = Scratch::new();
        let place = scratch.path().join("it");
        obstacle.put(&place, &theirs);
        let before = place.symlink_metadata().unwrap().file_type();

        for (what, operation) in OPERATIONS {
            let folder = scratch.folder.clone();
            let refused = at_once(move || operation(&folder)).unwrap_err();
            assert_eq!(
                refused,
                format!("this is {}; expected a regular file", obstacle.found),
                "{what}"
            );
        }

        assert_eq!(before, place.symlink_metadata().unwrap().file_type());
        assert_eq!(scratch.names(), ["it"]);
    }

    theirs.assert_untouched();
}

#[test]
fn devices_are_not_files() {
    let devices = Folder::open("/dev").unwrap();

    for refused in [
        told(devices.read_text_file("zero", 1024)),
        told(devices.open_file("zero", Access::Write)),
        told(devices.open_or_create("null", Access::Append)),
        told(devices.replace("null", b"")),
    ] {
        assert_eq!(
            refused.unwrap_err(),
            "this is a special file; expected a regular file"
        );
    }
}
