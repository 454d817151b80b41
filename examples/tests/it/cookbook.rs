//! Each pattern of the cookbook prints what its header shows, and is in the table of the readme.

use std::fs;
use std::path::Path;

use crate::outputs::{self, Example};

#[test]
fn patterns_print_what_their_headers_show() {
    for name in outputs::listed("cookbook") {
        let program = "cookbook";
        let name = Some(name.as_str());
        Example { program, name }.check();
    }
}

#[test]
fn the_readme_lists_every_pattern() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).expect("the readme can be read");

    for name in outputs::listed("cookbook") {
        assert!(readme.contains(&format!("](cookbook/{name}.rs)")), "{name}");
    }
}
