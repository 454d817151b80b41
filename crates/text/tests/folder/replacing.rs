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
fn a_temporary_file_that_is_given_up_is_removed() {
    let scratch = Scratch::new();
    scratch.write("a", "old");

    let mut temporary = scratch.folder.temporary("a").unwrap();
    temporary.write_all(b"half").unwrap();
    assert_eq!(scratch.names().len(), 2);
    drop(temporary);
    assert_eq!(scratch.names(), ["a"]);
    assert_eq!(scratch.text("a"), "old");
}

#[test]
fn the_file_in_place_is_the_one_that_was_written() {
    let scratch = Scratch::new();
    let mut temporary = scratch.folder.temporary("a").unwrap();
    temporary.write_all(b"1").unwrap();

    let mut file = temporary.put_in_place().unwrap();
    file.write_all(b"2").unwrap();
    assert_eq!(scratch.text("a"), "12");
    assert_eq!(scratch.names(), ["a"]);
}

#[test]
fn a_temporary_file_of_one_name_takes_the_place_of_what_a_crash_left() {
    let scratch = Scratch::new();
    scratch.write("a", "old");
    scratch.write("a.new", "half a fi");

    let mut temporary = scratch.folder.temporary_named("a", "a.new").unwrap();
    assert_eq!(scratch.text("a.new"), "");
    temporary.write_all(b"new").unwrap();
    temporary.put_in_place().unwrap();
    assert_eq!(
        (scratch.text("a").as_str(), scratch.names()),
        ("new", vec!["a".to_owned()])
    );

    drop(scratch.folder.temporary_named("a", "a.new").unwrap());
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
