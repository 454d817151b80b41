//! The example in the README does what it says.

use crate::support::Place;
#[cfg(feature = "mcp")]
use crate::support::Told;

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
    let place = Place::new();
    place.write("verse.yaml", file);
    let told = place.line(command.strip_prefix("$ cogwork ").unwrap().trim());
    told.answers(answer);
    assert_eq!(told.err, "");
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

    let place = Place::new();
    for arguments in commands {
        let mut command = place.command(&[&["mcp"], &arguments[..]].concat());
        let data = command.env("COGWORK_DATA", place.folder());
        let told = Told::of(data.env_remove("OPENAI_MODEL").output().unwrap());
        told.answers("");
        assert_eq!(told.err, "", "{arguments:?}");
    }
}
