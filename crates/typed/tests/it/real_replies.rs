//! The replies of a small real model that was asked for plans.

use std::fs;
use std::path::Path;

use cogwork_typed::AnswerReader;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

fn replies() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cot/tests/fixtures/real");
    let index = fs::read_to_string(folder.join("INDEX.tsv")).unwrap();

    index
        .lines()
        .map(|line| {
            let name = line.split('\t').next().unwrap().to_owned();
            let text = fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
            (name, text)
        })
        .collect()
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Flat {
    current_thinking: String,
    next_thought_needed: bool,
}

/// What surrounds an answer in a reply: the prose and the fences that the model wrote.
fn surroundings(text: &str) -> (String, String) {
    let fence = text.find("```");
    let (before, rest) = text.split_at(fence.unwrap_or(0));

    // The label of the fence, and what follows the closing one.
    let inside = rest.trim_start_matches('`');
    let label: String = inside.chars().take_while(|c| c.is_alphanumeric()).collect();
    let after = match inside.find("\n```") {
        Some(end) => inside[end + 4..].to_owned(),
        None => String::new(),
    };

    match fence {
        Some(_) => (format!("{before}```{label}\n"), format!("\n```{after}")),
        None => (String::new(), String::new()),
    }
}

/// Any text of a reply may be a text of an answer, in the surroundings that the model wrote.
#[test]
fn replies_are_read_as_texts_of_answers() {
    for (name, text) in &replies() {
        let meant = json!({"current_thinking": text, "next_thought_needed": true});
        let (before, after) = surroundings(text);
        let json = serde_json::to_string_pretty(&meant).unwrap();

        let read = AnswerReader::<Flat>::new().read(&format!("{before}{json}{after}"));
        assert_eq!(read.unwrap().value.current_thinking, *text, "{name}");
    }
}

/// The replies as the model wrote them.
#[test]
fn raw_replies_are_read_as_a_flat_type() {
    let reader = AnswerReader::<Flat>::new();
    let read = replies()
        .into_iter()
        .filter(|(_, text)| reader.read(text).is_ok());

    assert_eq!((replies().len(), read.count()), (111, 38));
}
