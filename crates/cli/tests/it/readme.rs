//! The example in the README does what it says.

use std::fs;
use std::process::Command;

/// Returns the blocks of code in this language.
fn blocks<'a>(readme: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");

    readme
        .split(&fence)
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect()
}

#[test]
fn the_command_answers_as_the_readme_shows() {
    let readme = include_str!("../../README.md");
    let file = blocks(readme, "yaml").pop().unwrap();
    let console = blocks(readme, "console").pop().unwrap();
    let (command, answer) = console.split_once('\n').unwrap();
    let arguments = command
        .strip_prefix("$ cogwork ")
        .unwrap()
        .split_whitespace();

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("verse.yaml"), file).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_cogwork"))
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();

    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), answer);
    assert!(output.status.success());
}
