//! The example in the README does what it says.

use crate::support::Place;

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
