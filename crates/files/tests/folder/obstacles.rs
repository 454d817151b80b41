//! Whatever stands where a file was expected is refused, is left as it was, and holds nobody up.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use cogwork_files::{Access, Folder, LockFile};

use super::Scratch;

type Operation = fn(&Folder) -> Result<(), String>;

fn told<T, E: std::fmt::Display>(done: Result<T, E>) -> Result<(), String> {
    done.map(drop).map_err(|error| error.to_string())
}

/// Each way to open or replace what has the name `it`.
const OPERATIONS: [(&str, Operation); 9] = [
    ("look", |folder| told(folder.has_file("it"))),
    ("read", |folder| told(folder.read_file("it", 1024))),
    ("open to read", |folder| told(folder.open_file("it", Access::Read))),
    ("open to write", |folder| told(folder.open_file("it", Access::Write))),
    ("open to append", |folder| told(folder.open_file("it", Access::Append))),
    ("open or create", |folder| told(folder.open_or_create("it", Access::Append))),
    ("make a temporary file", |folder| told(folder.temporary("it"))),
    ("replace", |folder| told(folder.replace("it", b"written"))),
    ("lock", |folder| told(LockFile::lock_within(folder, "it", Duration::ZERO))),
];

/// Runs an operation that must not block.
fn at_once(folder: &Folder, operation: Operation) -> Result<(), String> {
    let (sender, receiver) = mpsc::channel();
    let folder = folder.clone();
    std::thread::spawn(move || sender.send(operation(&folder)));
    receiver.recv_timeout(Duration::from_secs(60)).expect("it blocks")
}

fn is_refused(scratch: &Scratch, found: &str) {
    let before = scratch.path().join("it").symlink_metadata().unwrap().file_type();

    for (what, operation) in OPERATIONS {
        let refused = at_once(&scratch.folder, operation).unwrap_err();
        assert_eq!(refused, format!("this is {found}; expected a regular file"), "{what}");
    }
    let created = scratch.folder.create_new("it").unwrap_err();
    assert_eq!(created.kind(), std::io::ErrorKind::AlreadyExists);

    let after = scratch.path().join("it").symlink_metadata().unwrap().file_type();
    assert_eq!(before, after);
    assert!(scratch.names().iter().all(|name| name == "it" || name == "beside"), "{:?}", scratch.names());
}

#[test]
fn links_are_not_followed() {
    let outside = Scratch::new();
    outside.write("theirs", "theirs");
    let theirs = outside.path().join("theirs");
    let nowhere = outside.path().join("nowhere");

    for to in [theirs.as_path(), nowhere.as_path(), outside.path(), "beside".as_ref(), "it".as_ref()] {
        let scratch = Scratch::new();
        scratch.write("beside", "beside");
        symlink(to, scratch.path().join("it")).unwrap();

        is_refused(&scratch, "a symbolic link");
        assert_eq!(scratch.text("beside"), "beside");
    }
    assert_eq!(outside.text("theirs"), "theirs");
    assert_eq!(outside.names(), ["theirs"]);
}

#[test]
fn folders_are_not_files() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("it")).unwrap();
    is_refused(&scratch, "a folder");
}

#[test]
fn pipes_are_not_waited_for() {
    let scratch = Scratch::new();
    assert!(Command::new("mkfifo").arg(scratch.path().join("it")).status().unwrap().success());
    is_refused(&scratch, "a named pipe");
}

#[test]
fn sockets_are_not_files() {
    let scratch = Scratch::new();
    let _listener = UnixListener::bind(scratch.path().join("it")).unwrap();
    is_refused(&scratch, "a socket");
}

#[test]
fn devices_are_not_files() {
    let devices = Folder::open("/dev").unwrap();

    for refused in [
        told(devices.read_file("zero", 1024)),
        told(devices.open_file("zero", Access::Write)),
        told(devices.open_or_create("null", Access::Append)),
        told(devices.replace("null", b"")),
    ] {
        assert_eq!(refused.unwrap_err(), "this is a device; expected a regular file");
    }
}
