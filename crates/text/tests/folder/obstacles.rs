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
    ("look", |it| told(it.has_file("it"))),
    ("read", |it| told(it.read_text_file("it", 1024))),
    ("open to read", |it| told(it.open_file("it", Access::Read))),
    ("open to write", |it| {
        told(it.open_file("it", Access::Write))
    }),
    ("open to append", |it| {
        told(it.open_file("it", Access::Append))
    }),
    ("open or create", |it| {
        told(it.open_or_create("it", Access::Append))
    }),
    ("replace by another one", |it| {
        told(it.replace_by("it", "other", b"written"))
    }),
    ("replace another one by it", |it| {
        told(it.replace_by("other", "it", b"written"))
    }),
    ("ask for its length", |it| told(it.file_length("it"))),
    ("clear it away", |it| told(it.remove_leftover("it"))),
    ("replace", |it| told(it.replace("it", b"written"))),
    ("lock", |it| {
        told(LockFile::lock_within(it, "it", Duration::ZERO))
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
            let expected = format!("this is {}; expected a regular file", obstacle.found);
            assert_eq!(refused, expected, "{what}");
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
