//! The replies of a small real model that was asked for plans.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cogwork_cot::ReplyReader;
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

/// The form of a plan. A missing status is pending.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Plan {
    current_thinking: String,
    #[serde(default)]
    planning: Vec<Step>,
    next_thought_needed: bool,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Step {
    description: String,
    #[serde(default)]
    status: Status,
    result: Option<String>,
    mark: Option<String>,
    #[serde(default)]
    sub_steps: Vec<Step>,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
enum Status {
    #[default]
    Pending,
    #[serde(alias = "Finished", alias = "True")]
    Done,
    #[serde(rename = "Verification Needed")]
    VerificationNeeded,
}

/// The replies as the model wrote them: one that is read as a plan has the keys of the flat type.
#[test]
fn raw_replies_are_read_as_a_flat_type_and_as_a_plan() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();

    for (name, text) in &replies() {
        let plan = ReplyReader::default().read(text).ok();
        let flat = AnswerReader::<Flat>::new().read(text).ok();
        let typed = AnswerReader::<Plan>::new().read(text).ok();
        let by_both = plan.is_some() && flat.is_some();

        *counts.entry("by the reader of plans").or_default() += usize::from(plan.is_some());
        *counts.entry("as the flat type").or_default() += usize::from(flat.is_some());
        *counts
            .entry("as the flat type and by the reader of plans")
            .or_default() += usize::from(by_both);
        *counts.entry("as the type of a plan").or_default() += usize::from(typed.is_some());
        if let (Some(plan), Some(flat)) = (plan, flat) {
            let is_needed = plan.reply.next_thought_needed;
            assert_eq!(flat.value.next_thought_needed, is_needed, "{name}");
        }
    }

    insta::assert_debug_snapshot!(counts);
}
