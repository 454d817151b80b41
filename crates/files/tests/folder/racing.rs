//! What is swapped in while it is being opened gets nothing, either.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use cogwork_files::{Access, Error, Folder, LockFile};

use super::Scratch;
use crate::support::make_pipe;

const ROUNDS: usize = 2_000;
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

/// Puts a file, a link and a pipe in turn under one name.
fn take_turns(place: &Path, theirs: &Path, pipe: &Path) {
    let _ = std::fs::remove_file(place);
    let _ = symlink(theirs, place);
    let _ = std::fs::remove_file(place);
    let _ = std::fs::write(place, "file");
    let _ = std::fs::remove_file(place);
    let _ = std::fs::hard_link(pipe, place);
}

#[test]
fn a_link_that_is_swapped_in_redirects_nothing() {
    let inside = Scratch::new();
    let outside = Scratch::new();
    outside.write("theirs", "theirs");
    let theirs = outside.path().join("theirs");
    let pipe = inside.path().join("pipe");
    make_pipe(&pipe);
    let place = inside.path().join("it");

    let mut opened = 0;
    while_swapping(
        || take_turns(&place, &theirs, &pipe),
        || {
            for _ in 0..ROUNDS {
                if let Ok(mut file) = inside.folder.open_or_create("it", Access::Append) {
                    assert!(file.metadata().unwrap().is_file());
                    file.write_all(b"ours").unwrap();
                    opened += 1;
                }
                if let Ok(read) = inside.folder.read_file("it", 1024) {
                    assert!(!read.starts_with(b"theirs"));
                }
                let _ = inside.folder.replace("it", b"ours");
                let _ = LockFile::try_lock(&inside.folder, "it");
            }
        },
    );
    assert!(opened > 0);
    assert_eq!(outside.text("theirs"), "theirs");
    assert_eq!(outside.names(), ["theirs"]);
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
