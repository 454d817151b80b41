//! No error shows a name from elsewhere: callers put the path in front, made safe.

#[path = "../support/hostile.rs"]
mod hostile;

use std::io;
use std::time::Duration;

use cogwork_text::files::{Access, Error, Folder, LockError, LockFile};

use crate::Scratch;
use hostile::{assert_error_is_safe, texts};

#[test]
fn nothing_unsafe_is_shown() {
    errors()
        .iter()
        .for_each(|error| assert_error_is_safe(error));
    lock_errors()
        .iter()
        .for_each(|error| assert_error_is_safe(error));

    for text in texts() {
        show_names(&text);
        show_contents(&text);
    }
}

fn errors() -> [Error; 7] {
    let found = "a special file";

    [
        Error::LeadsOut,
        Error::NotAFile { found },
        Error::NotAName,
        Error::TooLarge { most: 1 },
        Error::NotText { line: 1 },
        Error::Io(io::Error::from_raw_os_error(2)),
        Error::Io(io::ErrorKind::NotFound.into()),
    ]
}

fn lock_errors() -> [LockError; 5] {
    [
        LockError::InUse { holder: Some(1) },
        LockError::InUse { holder: None },
        LockError::NotALockFile,
        LockError::Replaced,
        LockError::File(Error::NotAName),
    ]
}

/// A file and a folder that aren't there, with the text for a name.
fn show_names(text: &str) {
    let scratch = Scratch::new();
    let folder = &scratch.folder;

    let missing = format!("missing{text}");
    let errors = [
        Folder::open(scratch.path().join(&missing)).err(),
        Folder::of_file(scratch.path().join(&missing).join("a")).err(),
        folder.open_file(&missing, Access::Read).err(),
        folder.open_file(format!("../{text}"), Access::Read).err(),
        folder.replace(format!("a/{text}"), b"").err(),
        folder.read_text_file(&missing, 10).err(),
    ];

    assert!(errors.iter().flatten().count() > 4, "{errors:?}");
    errors
        .iter()
        .flatten()
        .for_each(|error| assert_error_is_safe(error));
}

/// Files that hold the text and should hold something else.
fn show_contents(text: &str) {
    let scratch = Scratch::new();
    let folder = &scratch.folder;

    scratch.write("lock", &format!("not a process id {text}"));
    assert_error_is_safe(&LockFile::lock_within(folder, "lock", Duration::ZERO).unwrap_err());

    let no_utf8 = [text.as_bytes(), b"\xff"].concat();
    std::fs::write(scratch.path().join("bytes"), no_utf8).unwrap();
    assert_error_is_safe(&folder.read_text_file("bytes", 1 << 20).unwrap_err());
    assert_error_is_safe(&folder.read_text_file("bytes", 0).unwrap_err());
}
