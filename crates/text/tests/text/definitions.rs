//! There is one definition of what is unsafe to show, and every crate is held against it. A second definition would
//! come to differ from it.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What code that tells unsafe characters from others is written with, in lower case.
const SIGNS: [&str; 18] = [
    "is_control(",
    "is_ascii_control(",
    "escape_debug(",
    "escape_default(",
    "escape_unicode(",
    "replacement_character",
    "\\x1b",
    "\\x7f",
    "\\u{1b}",
    "\\u{ad}",
    "\\u{61c}",
    "\\u{180e}",
    "\\u{200",
    "\\u{202",
    "\\u{206",
    "\\u{fe",
    "\\u{fff",
    "\\u{e0",
];

/// Files that look at such characters for another reason than to show a text: each with its signs and the reason.
const OTHER_REASONS: [(&str, &[&str], &str); 19] = [
    (
        "ask/src/growing/escape.rs",
        &["\\u{1b}", "\\u{202", "\\u{fff", "replacement_character"],
        "YAML and JSON have escapes for these",
    ),
    (
        "ask/src/fenced.rs",
        &["\\u{fe"],
        "a reply may begin with a byte order mark",
    ),
    (
        "ask/src/growing/seek.rs",
        &["\\u{200", "\\u{fe"],
        "models put invisible spaces before keys",
    ),
    (
        "ask/src/growing/tags.rs",
        &["\\u{fe"],
        "a reply may begin with a byte order mark",
    ),
    (
        "cot/src/reply/candidates.rs",
        &["\\u{fe"],
        "a reply may begin with a byte order mark",
    ),
    (
        "cot/src/reply/keys.rs",
        &["\\u{200", "\\u{fe"],
        "models put invisible spaces around keys",
    ),
    (
        "cot/src/reply/repair/lines.rs",
        &["\\u{200", "\\u{fe"],
        "an invisible space is no indentation",
    ),
    (
        "cot/src/reply/repair/text.rs",
        &["is_control(", "\\u{202", "\\u{fe", "\\u{fff"],
        "YAML needs these escaped",
    ),
    (
        "cot/src/reporter/console/live.rs",
        &["\\u{1b}"],
        "this moves the cursor of a terminal",
    ),
    (
        "ask/src/json/mend/words.rs",
        &["is_control("],
        "JSON needs these escaped",
    ),
    (
        "strategies/src/drivers/normal_form/unicode.rs",
        &["\\u{200", "\\u{202"],
        "numbers have these between their digits",
    ),
    (
        "llm/src/http/address.rs",
        &["is_control("],
        "a URL may not have these",
    ),
    (
        "llm/src/http/secrets.rs",
        &["\\u{fe"],
        "JSON may begin with a byte order mark",
    ),
    (
        "llm/src/http/sse.rs",
        &["\\u{fe"],
        "a stream may begin with a byte order mark",
    ),
    (
        "typed/src/reply/find.rs",
        &["\\u{fe"],
        "a reply may begin with a byte order mark",
    ),
    (
        "ask/src/growing/json.rs",
        &["is_control("],
        "JSON needs these escaped",
    ),
    (
        "plan/src/prompt.rs",
        &["is_control(", "\\u{202", "\\u{fe", "\\u{fff"],
        "YAML needs these in quotes",
    ),
    (
        "read/src/yaml/mod.rs",
        &["is_control(", "\\u{fff"],
        "YAML refuses these",
    ),
    (
        "read/src/yaml/lexeme.rs",
        &["\\u{202", "\\u{fe"],
        "YAML ends lines at some of these and skips a byte order mark",
    ),
];

/// A sign in the code of a crate: the path below `crates`, the line, and the sign.
type Found = (String, usize, &'static str);

#[test]
fn no_other_crate_defines_what_is_unsafe() {
    let found: Vec<Found> = library_files()
        .iter()
        .flat_map(|file| found_in(file))
        .collect();

    let unexplained: Vec<&Found> = found
        .iter()
        .filter(|(file, _, sign)| !reasons().any(|reason| reason == (file, sign)))
        .collect();
    assert!(
        unexplained.is_empty(),
        "use cogwork-text, or give another reason here: {unexplained:#?}"
    );

    let needless: Vec<_> = reasons()
        .filter(|reason| !found.iter().any(|(file, _, sign)| *reason == (file, sign)))
        .collect();
    assert!(needless.is_empty(), "these need no reason: {needless:#?}");
}

/// The files with a reason, each with each of its signs.
fn reasons() -> impl Iterator<Item = (&'static str, &'static str)> {
    OTHER_REASONS
        .iter()
        .flat_map(|(file, signs, _)| signs.iter().map(|sign| (*file, *sign)))
}

#[test]
fn a_definition_is_found_however_it_is_written() {
    let definitions = [
        "text.chars().any(char::is_control())",
        "    c.is_control() || c == '\\u{FEFF}'",
        "if byte.is_ascii_control() {",
        "matches!(c, '\\u{202a}'..='\\u{202E}')",
        "matches!(c, '\\u{2066}'..='\\u{2069}')",
        "matches!(c, '\\u{200E}' | '\\u{200f}' | '\\u{61C}')",
        "matches!(c, '\\u{fff9}'..='\\u{fffb}' | '\\u{E0001}')",
        "text.escape_debug().to_string()",
        "character.escape_default()",
        "text.replace('\\x1b', \"\")",
        "text.replace('\\u{1b}', \"\\u{fffd}\")",
        "char::REPLACEMENT_CHARACTER",
    ];

    for definition in definitions {
        assert!(!signs(definition).is_empty(), "{definition}");
    }

    assert!(signs("/// The character `\\u{202e}` turns text around.").is_empty());
    assert!(signs("text.chars().filter(is_unsafe)").is_empty());
}

/// A crate that displays something displays it with hostile texts in a test.
#[test]
fn every_crate_that_displays_something_tests_it() {
    let untested: Vec<PathBuf> = crates()
        .into_iter()
        .filter(|folder| displays(folder) && !is_tested(folder))
        .collect();

    assert!(
        untested.is_empty(),
        "no test calls `Shown::assert_complete` in {untested:?}"
    );
}

/// Rust prints the `Debug` of an error that `main` returns, so it must be a sentence.
#[test]
fn every_error_shows_its_sentence_as_debug() {
    let mut errors = 0;
    for folder in crates() {
        let code: String = rust_files(&folder.join("src"))
            .iter()
            .map(|file| fs::read_to_string(file).unwrap())
            .collect();

        for error in public_errors(&code) {
            errors += 1;
            let by_macro = format!("debug_as_display!({error})");
            let by_hand = format!("impl fmt::Debug for {error} {{\n    /// Writes `{{:#}}`");
            assert!(
                code.contains(&by_macro) || code.contains(&by_hand),
                "{}: use `cogwork_text::debug_as_display!({error})`",
                folder.display()
            );
        }
    }

    assert!(errors > 30, "only {errors} errors were found");
}

/// The public types of a crate that implement `Error`, or derive it.
fn public_errors(code: &str) -> BTreeSet<String> {
    let lines = code.lines();
    let implemented = lines
        .filter(|line| line.starts_with("impl"))
        .filter_map(|line| line.split_once("Error for "))
        .filter(|(before, _)| before.ends_with([' ', ':']))
        .map(|(_, name)| name);

    let derived = code.split("thiserror::Error)]").skip(1);
    let derived = derived.filter_map(|rest| {
        let mut code = rest.lines().filter(|line| !line.starts_with("//"));
        let declared = code.find(|line| line.contains("enum ") || line.contains("struct "))?;
        let name = ["pub enum ", "pub struct "]
            .iter()
            .find_map(|declaration| declared.strip_prefix(declaration))?;
        Some(name)
    });

    let names = implemented.chain(derived).map(identifier);
    names.filter(|name| is_public(code, name)).collect()
}

fn is_public(code: &str, name: &str) -> bool {
    let declarations = ["enum", "struct"].map(|kind| format!("\npub {kind} {name}"));
    declarations.iter().any(|declared| code.contains(declared))
}

fn identifier(text: &str) -> String {
    text.chars()
        .take_while(|character| character.is_alphanumeric())
        .collect()
}

/// The crates but this one, whose adapters define what is safe.
fn crates() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = fs::read_dir(all)
        .unwrap()
        .map(|entry| entry.unwrap().path());

    let others: Vec<_> = folders
        .filter(|folder| folder.is_dir() && !folder.ends_with("text"))
        .collect();
    assert!(others.len() > 10, "{others:?}");
    others
}

fn displays(folder: &Path) -> bool {
    has(&folder.join("src"), |code| {
        code.contains("Display for ") || code.contains("thiserror::Error)]")
    })
}

fn is_tested(folder: &Path) -> bool {
    has(&folder.join("tests"), |code| {
        code.contains(".assert_complete(")
    })
}

fn has(folder: &Path, is_met: impl Fn(&str) -> bool) -> bool {
    rust_files(folder)
        .iter()
        .any(|file| is_met(&fs::read_to_string(file).unwrap()))
}

fn library_files() -> Vec<PathBuf> {
    crates()
        .iter()
        .flat_map(|folder| rust_files(&folder.join("src")))
        .collect()
}

fn found_in(file: &Path) -> Vec<Found> {
    let code = fs::read_to_string(file).unwrap();
    let path = file.to_string_lossy().replace('\\', "/");
    let (_, name) = path.rsplit_once("/crates/").unwrap();

    let lines = (1..).zip(code.lines());
    let found = lines.flat_map(|(line, text)| {
        signs(text)
            .into_iter()
            .map(move |sign| (name.to_owned(), line, sign))
    });

    found.collect()
}

/// The signs in a line of code.
fn signs(line: &str) -> Vec<&'static str> {
    if line.trim_start().starts_with("//") {
        return Vec::new();
    }

    let line = line.to_lowercase();
    SIGNS
        .into_iter()
        .filter(|sign| line.contains(sign))
        .collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };

    entries
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => rust_files(&path),
            Some(extension) if extension == "rs" => vec![path],
            _ => Vec::new(),
        })
        .collect()
}
