//! Obstacles at the path of a file, for the tests of all crates that open files by name.

#![allow(dead_code, reason = "no test needs all of it")]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

/// A user's file that nothing may touch, in a folder of its own.
pub(crate) struct Theirs(TempDir);

impl Theirs {
    pub(crate) const TEXT: &str = "alias ls='ls -l'\n";

    pub(crate) fn new() -> Self {
        let theirs = Self(tempfile::tempdir().unwrap());
        fs::write(theirs.path(), Self::TEXT).unwrap();
        theirs
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder().join(".bashrc")
    }

    pub(crate) fn assert_untouched(&self) {
        assert_eq!(fs::read_to_string(self.path()).unwrap(), Self::TEXT);
        assert_eq!(fs::read_dir(self.folder()).unwrap().count(), 1);
    }
}

/// Something that is not a regular file.
pub(crate) struct Obstacle {
    /// What messages call it.
    pub(crate) found: &'static str,
    make: fn(&Path, &Theirs),
}

impl Obstacle {
    const fn new(found: &'static str, make: fn(&Path, &Theirs)) -> Self {
        Self { found, make }
    }

    pub(crate) fn put(&self, place: &Path, theirs: &Theirs) {
        (self.make)(place, theirs);
    }
}

const LINK: &str = "a symbolic link";

pub(crate) const OBSTACLES: [Obstacle; 8] = [
    Obstacle::new(LINK, |place, theirs| link(theirs.path(), place)),
    Obstacle::new(LINK, |place, theirs| {
        link(theirs.folder().join("nowhere"), place)
    }),
    Obstacle::new(LINK, |place, theirs| link(theirs.folder(), place)),
    Obstacle::new(LINK, |place, _| link(place, place)),
    Obstacle::new(LINK, |place, _| link("/dev/zero", place)),
    Obstacle::new("a folder", |place, _| fs::create_dir(place).unwrap()),
    Obstacle::new("a special file", |place, _| {
        drop(UnixListener::bind(place).unwrap())
    }),
    Obstacle::new("a special file", |place, _| make_pipe(place)),
];

fn link(to: impl AsRef<Path>, place: &Path) {
    symlink(to, place).unwrap();
}

pub(crate) fn make_pipe(place: &Path) {
    let made = Command::new("mkfifo").arg(place).status();
    assert!(made.unwrap().success());
}

/// Does what must not block; a minute is for machines that are busy.
pub(crate) fn at_once<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver
        .recv_timeout(Duration::from_secs(60))
        .expect("it blocks, or panicked")
}

/// Puts a link to a file in place of everything that appears in a folder.
pub(crate) fn swap_all(folder: &Path, to: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if fs::remove_file(&path).is_ok() {
            let _ = symlink(to, &path);
        }
    }
}
