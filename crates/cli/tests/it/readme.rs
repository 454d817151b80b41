//! The example in the README does what it says.

use std::fs;
use std::process::Command;
#[cfg(feature = "mcp")]
use std::process::Stdio;

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
    let consoles = blocks(readme, "console");
    let is_run = |block: &&&str| block.starts_with("$ cogwork run ");
    let console = consoles.iter().find(is_run).unwrap();
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

/// Returns the arguments of each `cogwork mcp` in a document.
#[cfg(feature = "mcp")]
fn arguments_of_mcp(document: &str) -> Vec<Vec<&str>> {
    let rests = document.split("cogwork mcp").skip(1);
    let commands = rests.filter_map(|rest| rest.split(['`', '\n']).next());
    commands
        .map(|command| command.split_whitespace().collect())
        .collect()
}

#[cfg(feature = "mcp")]
#[test]
fn the_servers_of_the_documents_start() {
    let readme = include_str!("../../README.md");
    let guide = include_str!("../../../../docs/guide/assistants.md");
    let mut commands = arguments_of_mcp(readme);
    commands.extend(arguments_of_mcp(guide));
    // A server over HTTP doesn't end by itself, and its port may be taken.
    commands.retain(|arguments| !arguments.contains(&"--http"));
    commands.sort_unstable();
    commands.dedup();
    assert!(commands.len() >= 3, "{commands:?}");

    let folder = tempfile::tempdir().unwrap();
    for arguments in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_cogwork"))
            .arg("mcp")
            .args(&arguments)
            .env("COGWORK_DATA", folder.path())
            .env_remove("OPENAI_MODEL")
            .stdin(Stdio::null())
            .output()
            .unwrap();

        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
    }
}
