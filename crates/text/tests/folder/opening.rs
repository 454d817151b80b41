use std::io::{ErrorKind, Read, Seek, Write};

use cogwork_text::files::{Access, Error, Folder};

use super::Scratch;

#[test]
fn a_file_is_read_up_to_its_limit() {
    let scratch = Scratch::new();
    scratch.write("a", "12345");

    assert_eq!(scratch.folder.read_text_file("a", 5).unwrap(), "12345");
    let error = scratch.folder.read_text_file("a", 4).unwrap_err();
    let expected = "the file has more than 4 bytes; expected fewer";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_text_says_where_it_is_none() {
    let scratch = Scratch::new();
    scratch.write("a", "one\ntwö\n");
    let text = scratch.folder.read_text_file("a", 99).unwrap();
    assert_eq!(text, "one\ntwö\n");

    std::fs::write(scratch.path().join("a"), b"one\ntw\xc3").unwrap();
    let error = scratch.folder.read_text_file("a", 99).unwrap_err();
    let expected = "the file is not UTF-8 in line 2; expected text";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_missing_file_is_created_only_when_asked_for() {
    let scratch = Scratch::new();
    assert!(!scratch.folder.has_file("a").unwrap());
    let unopened = scratch.folder.open_file("a", Access::Append);
    assert!(unopened.unwrap_err().is_not_found());
    let unread = scratch.folder.read_text_file("a", 9);
    assert!(unread.unwrap_err().is_not_found());
    assert!(scratch.names().is_empty());

    let mut file = scratch.folder.open_or_create("a", Access::Append).unwrap();
    file.write_all(b"1").unwrap();
    assert!(scratch.folder.has_file("a").unwrap());
    assert_eq!(scratch.text("a"), "1");
}

#[test]
fn opening_keeps_what_is_there() {
    let scratch = Scratch::new();
    scratch.write("a", "12");

    for access in [Access::Read, Access::Write, Access::Append] {
        let mut text = String::new();
        let mut file = scratch.folder.open_or_create("a", access).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "12");
    }

    let mut appending = scratch.folder.open_file("a", Access::Append).unwrap();
    appending.rewind().unwrap();
    appending.write_all(b"3").unwrap();
    assert_eq!(scratch.text("a"), "123");

    let mut writing = scratch.folder.open_file("a", Access::Write).unwrap();
    writing.write_all(b"0").unwrap();
    assert_eq!(scratch.text("a"), "023");
}

#[test]
fn only_names_are_names() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("inside")).unwrap();

    for name in ["", ".", "..", "/", "inside/a", "../a", "a/", "./a", "/etc"] {
        let refused = [
            scratch.folder.has_file(name).err(),
            scratch.folder.open_file(name, Access::Read).err(),
            scratch.folder.open_or_create(name, Access::Append).err(),
            scratch.folder.replace_by("a", name, b"1").err(),
            scratch.folder.replace(name, b"1").err(),
            scratch.folder.remove_file(name).err(),
        ];
        for error in refused {
            assert!(matches!(error, Some(Error::NotAName)), "{name}: {error:?}");
        }
    }
}

#[test]
fn the_folder_of_a_file_is_found_before_there_is_a_file() {
    let scratch = Scratch::new();

    let (folder, name) = Folder::of_file(scratch.path().join("a.txt")).unwrap();
    assert_eq!(name, "a.txt");
    assert_eq!(folder.path(), scratch.path());
    assert_eq!(folder.path_of(&name), scratch.path().join("a.txt"));

    let (here, name) = Folder::of_file("a.txt").unwrap();
    assert_eq!(here.path_of(name), std::path::Path::new("a.txt"));
    assert!(matches!(Folder::of_file("/"), Err(Error::NotAName)));
    assert!(matches!(Folder::of_file(".."), Err(Error::NotAName)));
    let missing = Folder::of_file(scratch.path().join("none/a.txt"));
    assert!(missing.unwrap_err().is_not_found());
}

#[test]
fn a_folder_is_created_with_its_parents() {
    let scratch = Scratch::new();
    let path = scratch.path().join("a/b/c");

    let created = Folder::create(&path).unwrap();
    created.replace("file", b"").unwrap();
    assert!(path.join("file").is_file());
    assert!(Folder::create(&path).unwrap().has_file("file").unwrap());

    let below_a_file = Folder::create(path.join("file/d")).unwrap_err();
    assert_ne!(below_a_file.kind(), ErrorKind::NotFound);
}

#[cfg(unix)]
#[test]
fn only_the_current_user_can_read_a_new_file() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = tempfile::tempdir().unwrap();
    let folder = Folder::open(scratch.path()).unwrap();

    folder.open_or_create("record", Access::Append).unwrap();
    folder.open_or_create("lock", Access::Write).unwrap();
    folder.replace("cassette", b"{}").unwrap();

    for name in ["record", "lock", "cassette"] {
        let metadata = scratch.path().join(name).metadata().unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name}");
    }
}
