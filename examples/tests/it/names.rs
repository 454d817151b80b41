//! Two crates use the same name for different types only where docs/design.md gives the reason, and
//! the names at the root of a crate fit on a screen.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The names that two crates share.
const SHARED: [&str; 4] = ["Fallback", "Retry", "Thought", "Timeout"];

/// The maximum number of names at the root of a crate. A module counts as one.
const MAX_ROOT_NAMES: usize = 30;

fn crates() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let entries = fs::read_dir(folder).expect("the crates are there");

    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("src/lib.rs").is_file())
        .collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();

    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();

        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }

    found
}

/// Returns the words of the text, which is Rust code, without those in comments.
fn words(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_')))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns the types that are defined in the crate and can be named from outside: those at its
/// root, and those that a `pub use` names.
fn public_types(source: &Path) -> BTreeSet<String> {
    let mut defined = BTreeSet::new();
    let mut exported = BTreeSet::new();

    for file in sources(source) {
        let text = fs::read_to_string(&file).expect("a source file");

        for line in text.lines().filter(|line| line.starts_with("pub ")) {
            let mut words = words(line).into_iter().skip(1);
            let kind = words.next().unwrap_or_default();

            if !matches!(kind, "struct" | "enum" | "trait" | "type" | "union") {
                continue;
            }

            let Some(name) = words.next() else { continue };
            defined.insert(name.to_owned());
            if file.ends_with("src/lib.rs") {
                exported.insert(name.to_owned());
            }
        }

        for statement in text.split("pub use ").skip(1) {
            let statement = statement.split(';').next().unwrap_or_default();
            exported.extend(words(statement).into_iter().map(str::to_owned));
        }
    }

    &defined & &exported
}

#[test]
fn a_name_means_one_thing() {
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();

    for folder in crates() {
        let crate_name = folder.file_name().expect("a name").to_string_lossy();
        let types = public_types(&folder.join("src"));
        assert!(
            !types.is_empty() || crate_name == "cogwork",
            "`{crate_name}` has no public types"
        );

        for name in types {
            users.entry(name).or_default().push(crate_name.to_string());
        }
    }

    users.retain(|_, crates| crates.len() > 1);
    let shared: Vec<&str> = users.keys().map(String::as_str).collect();
    assert_eq!(shared, SHARED, "{users:#?}");
}

#[test]
fn each_shared_name_has_its_reason() {
    let design = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/design.md");
    let design = fs::read_to_string(design).expect("docs/design.md");
    let question = "### Why do two crates sometimes use the same name?";

    let answer = design
        .split(question)
        .nth(1)
        .and_then(|rest| rest.split("\n### ").next())
        .expect("the question about shared names");

    for name in SHARED {
        assert!(answer.contains(&format!("`{name}`")), "{name}");
    }
}

/// Returns the public names at the root of a crate, from the text of its `lib.rs`, in which only
/// what is inside a module is indented.
fn root_names(library: &str) -> Vec<&str> {
    let items = library.split("\npub ").skip(1);

    items
        .flat_map(|item| match item.strip_prefix("use ") {
            Some(used) => used_names(used),
            None => words(item).into_iter().skip(1).take(1).collect(),
        })
        .collect()
}

/// Returns the names that a `use` brings into scope.
fn used_names(statement: &str) -> Vec<&str> {
    let statement = statement.split(';').next().unwrap_or_default();

    let listed = statement
        .split_once('{')
        .map_or(statement, |(_, listed)| listed);

    // The last word of `path::Name` and of `Name as Other`.
    listed
        .split(',')
        .filter_map(|name| words(name).pop())
        .collect()
}

#[test]
fn the_root_of_a_crate_fits_on_a_screen() {
    let mut too_many = BTreeMap::new();

    for folder in crates() {
        let library = fs::read_to_string(folder.join("src/lib.rs")).expect("a library");
        let names = root_names(&library);
        assert!(!names.is_empty(), "{}", folder.display());

        if names.len() > MAX_ROOT_NAMES {
            too_many.insert(folder, names.join(" "));
        }
    }

    assert!(too_many.is_empty(), "{too_many:#?}");
}
