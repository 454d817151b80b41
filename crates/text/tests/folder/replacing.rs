use std::io::Write;

use super::Scratch;

#[test]
fn a_file_is_replaced_as_a_whole() {
    let scratch = Scratch::new();
    scratch.folder.replace("a", b"first, and longer").unwrap();
    assert_eq!(scratch.text("a"), "first, and longer");

    scratch.folder.replace("a", b"second").unwrap();
    assert_eq!(scratch.text("a"), "second");
    assert_eq!(scratch.names(), ["a"]);
}

#[test]
fn a_file_that_cannot_take_its_place_is_removed() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("a")).unwrap();

    scratch.folder.replace("a", b"new").unwrap_err();
    scratch.folder.replace_by("a", "a.new", b"new").unwrap_err();
    assert_eq!(scratch.names(), ["a"]);
}

#[test]
fn the_file_in_place_is_the_one_that_was_written() {
    let scratch = Scratch::new();
    let mut file = scratch.folder.replace_by("a", "a.new", b"1").unwrap();

    file.write_all(b"2").unwrap();
    assert_eq!(scratch.text("a"), "12");
    assert_eq!(scratch.names(), ["a"]);
}

#[test]
fn what_a_crash_left_is_overwritten() {
    let scratch = Scratch::new();
    scratch.write("a", "old");
    scratch.write("a.new", "half a fi");

    scratch.folder.replace_by("a", "a.new", b"new").unwrap();
    assert_eq!(scratch.text("a"), "new");
    assert_eq!(scratch.names(), ["a"]);

    scratch.write("a.new", "half a fi");
    for _ in 0..2 {
        scratch.folder.remove_leftover("a.new").unwrap();
        assert_eq!(scratch.names(), ["a"]);
    }
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    scratch.write("a", "shared");
    let path = scratch.path().join("a");
    std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();

    scratch.folder.replace("a", b"still shared").unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}
