//! Files that are replaced while they are being opened.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cogwork_text::files::{Access, Error, Folder, LockFile};

use super::Scratch;
use crate::support::{Theirs, at_once, make_pipe};

const ROUNDS: usize = 20_000;
/// How often each outcome must be seen.
const ENOUGH: usize = 50;

/// Runs `work` while `swap` is repeated by another thread.
fn while_swapping(swap: impl Fn() + Sync, work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap();
            }
        });

        work();
        done.store(true, Ordering::Relaxed);
    });
}

/// Gives a name to a file, to a link to another file, and to a pipe, in turn and with nothing in between.
struct Turns {
    scratch: Scratch,
    theirs: Theirs,
}

impl Turns {
    fn new() -> Self {
        let turns = Self {
            scratch: Scratch::new(),
            theirs: Theirs::new(),
        };
        turns.scratch.write("it", "file");
        turns.scratch.write("file", "file");
        turns.scratch.write("other", "other");
        make_pipe(&turns.path("pipe"));
        symlink("other", turns.path("near")).unwrap();
        symlink(turns.theirs.path(), turns.path("far")).unwrap();

        turns
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn take(&self) {
        for name in ["file", "near", "file", "pipe", "file", "far"] {
            std::fs::hard_link(self.path(name), self.path("next")).unwrap();
            std::fs::rename(self.path("next"), self.path("it")).unwrap();

            // Renaming one name of a file to another of its names does nothing.
            let _ = std::fs::remove_file(self.path("next"));
        }
    }

    /// Runs `work` in the folder while the turns are taken, and checks that only `it` was touched.
    fn while_taken(self, work: impl FnOnce(Folder) + Send + 'static) {
        let turns = Arc::new(self);
        let done = Arc::new(AtomicBool::new(false));
        let taker = std::thread::spawn({
            let turns = turns.clone();
            let done = done.clone();
            move || {
                while !done.load(Ordering::Relaxed) {
                    turns.take();
                }
            }
        });

        let folder = turns.scratch.folder.clone();
        at_once(move || work(folder));
        done.store(true, Ordering::Relaxed);
        taker.join().unwrap();
        turns.theirs.assert_untouched();
        assert_eq!(turns.scratch.text("other"), "other");
    }
}

#[test]
fn what_is_swapped_in_is_not_opened() {
    Turns::new().while_taken(|folder| {
        let mut opened = 0;
        for round in 0.. {
            if let Ok(read) = folder.read_file("it", 1 << 20) {
                assert!(read.starts_with(b"file"));
            }

            if let Ok(mut file) = folder.open_or_create("it", Access::Append) {
                assert!(file.metadata().unwrap().is_file());
                file.write_all(b"!").unwrap();
                opened += 1;
            }

            if round >= ROUNDS && opened >= ENOUGH {
                break;
            }
        }
    });
}

#[test]
fn what_is_swapped_in_is_not_replaced_or_locked() {
    Turns::new().while_taken(|folder| {
        for _ in 0..ROUNDS / 100 {
            let _ = folder.replace("it", b"ours");
            let _ = LockFile::try_lock(&folder, "it");
        }
    });
}

#[test]
fn a_folder_that_is_swapped_on_the_way_leads_nowhere_else() {
    let inside = Scratch::new();
    let outside = Scratch::new();
    let way = inside.path().join("way");
    let real = inside.path().join("real");

    std::fs::create_dir(&real).unwrap();

    let mut opened = 0;
    let mut refused = 0;
    while_swapping(
        || {
            let _ = std::fs::rename(&real, &way);
            std::thread::yield_now();
            let _ = std::fs::rename(&way, &real);
            let _ = symlink(outside.path(), &way);

            std::thread::yield_now();
            let _ = std::fs::remove_file(&way);
        },
        || {
            while opened < ENOUGH || refused < ENOUGH {
                match inside.folder.file_beneath("way/it") {
                    Ok((folder, name)) => {
                        folder.replace(name, b"ours").unwrap();
                        opened += 1;
                    }
                    Err(Error::LeadsOut) => refused += 1,
                    Err(error) => assert!(error.is_not_found(), "{error:?}"),
                }
            }
        },
    );

    assert!(outside.names().is_empty());
}

#[test]
fn a_folder_stays_the_one_that_was_opened() {
    let scratch = Scratch::new();
    let outside = Scratch::new();
    let path = scratch.path().join("a");
    let folder = Folder::create(&path).unwrap();

    std::fs::rename(&path, scratch.path().join("b")).unwrap();
    symlink(outside.path(), &path).unwrap();
    folder.replace("it", b"ours").unwrap();
    assert_eq!(scratch.text("b/it"), "ours");
    assert!(outside.names().is_empty());
}
