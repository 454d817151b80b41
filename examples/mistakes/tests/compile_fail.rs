//! The compile errors that users meet, kept as a file to be reviewed.

use std::process::Command;

/// The wording is the compiler's, so the file holds for the one it was made with.
const MADE_WITH: &str = "rustc 1.95.";

#[test]
fn mistakes_are_explained() {
    // All dependencies are compiled once more.
    if std::env::var_os("COGWORK_LONG_TESTS").is_none() {
        return;
    }

    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("the compiler that built this test");
    let version = String::from_utf8_lossy(&version.stdout);

    if !version.starts_with(MADE_WITH) {
        eprintln!(
            "skipped: tests/ui/all.stderr was made with {MADE_WITH}x, this is {}",
            version.trim()
        );
        return;
    }

    trybuild::TestCases::new().compile_fail("tests/ui/all.rs");
}
