use std::os::unix::fs::symlink;

use cogwork_text::files::{Error, Folder};

use super::Scratch;

#[test]
fn a_path_stays_inside() {
    let inside = Scratch::new();
    let outside = Scratch::new();
    outside.write("secret", "");
    std::fs::create_dir_all(inside.path().join("a/b")).unwrap();
    symlink(outside.path(), inside.path().join("out")).unwrap();
    symlink("../..", inside.path().join("a/up")).unwrap();
    symlink("/", inside.path().join("root")).unwrap();

    for path in [
        "..", "a/../..", "a/..", "/", "/etc", "out", "out/x", "a/up", "root", "root/etc",
    ] {
        let error = inside.folder.beneath(path).unwrap_err();
        assert!(matches!(error, Error::LeadsOut), "{path}: {error:?}");
        let file = format!("{path}/secret");
        let error = inside.folder.file_beneath(&file).unwrap_err();

        assert!(matches!(error, Error::LeadsOut), "{file}: {error:?}");
    }
}

#[test]
fn folders_inside_are_found() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join("a/b")).unwrap();
    symlink("a/b", scratch.path().join("within")).unwrap();
    scratch.write("a/b/file", "text");

    for path in ["a/b", "./a/./b", "a/b/", "within"] {
        let folder = scratch.folder.beneath(path).unwrap();
        assert_eq!(folder.read_text_file("file", 9).unwrap(), "text", "{path}");
    }

    for path in ["", ".", "./."] {
        let folder = scratch.folder.beneath(path).unwrap();
        assert_eq!(folder.path(), scratch.path(), "{path}");
    }

    let (folder, name) = scratch.folder.file_beneath("./a/b/file").unwrap();
    assert!(folder.has_file(&name).unwrap());
    assert_eq!(folder.path_of(name), scratch.path().join("a/b/file"));
    let missing = scratch.folder.file_beneath("a/c/file");
    assert!(missing.unwrap_err().is_not_found());

    for path in ["", "."] {
        let refused = scratch.folder.file_beneath(path);
        assert!(matches!(refused, Err(Error::NotAName)), "{path}");
    }
}

#[test]
fn the_real_path_has_no_links() {
    let scratch = Scratch::new();
    for name in ["one", "other"] {
        std::fs::create_dir(scratch.path().join(name)).unwrap();
    }

    let link = scratch.path().join("link");
    symlink("one", &link).unwrap();

    let folder = Folder::open(&link).unwrap();
    let real = scratch.path().canonicalize().unwrap();
    assert_eq!(folder.real_path().unwrap(), real.join("one"));
}
