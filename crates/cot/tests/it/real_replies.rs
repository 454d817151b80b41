//! Replies of a small real model, free text without any constraint, as they came: how many are thoughts
//! as they are, how many after repairs, and what is wrong with the rest.
//!
//! `INDEX.tsv` beside them says for each the model, the prompt, the seed, and why the model stopped. A
//! reply that was cut off at the limit of tokens is asked for again by the node, whatever can be read.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cogwork_cot::Reply;
use cogwork_typed::ask::{Repair, RepairKind};

/// The name, the text, and whether the model stopped by itself.
fn replies() -> Vec<(String, String, bool)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/real");
    let index = fs::read_to_string(folder.join("INDEX.tsv")).unwrap();
    let entry = |line: &str| {
        let mut columns = line.split('\t');
        let name = columns.next().expect("a name").to_owned();
        let text = fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();

        (name, text, columns.nth(3) == Some("stop"))
    };

    index.lines().map(entry).collect()
}

#[test]
fn replies_of_a_real_model_are_read_more_often_after_repairs() {
    let mut report = "Before the one reader of replies: of 73 replies, 18 strictly and 34 after repairs; of 38 cut off, none and 1\n\n".to_owned();
    for (stopped, title) in [
        (true, "The model stopped by itself"),
        (false, "Cut off at the limit of tokens"),
    ] {
        let replies: Vec<_> = replies()
            .into_iter()
            .filter(|(.., by_itself)| *by_itself == stopped)
            .collect();
        let repaired: Vec<_> = replies
            .iter()
            .map(|(_, text, _)| Reply::read(text))
            .collect();
        // Text around the block isn't part of the reply.
        let is_prose = |repair: &Repair| repair.kind == RepairKind::Prose;
        let read_strictly = repaired
            .iter()
            .flatten()
            .filter(|read| read.repairs.iter().all(is_prose))
            .count();
        report += &format!(
            "{title}, {} replies: {read_strictly} read strictly, {} after repairs\n",
            replies.len(),
            repaired.iter().flatten().count()
        );
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();

        for repair in repaired.iter().flatten().flat_map(|read| &read.repairs) {
            *kinds.entry(format!("{:?}", repair.kind)).or_default() += 1;
        }

        report += &format!("Repairs in the thoughts: {kinds:?}\n\n");
        for ((name, ..), result) in replies.iter().zip(&repaired) {
            let said = match result {
                Ok(read) => format!(
                    "{} steps, {} repairs",
                    read.reply.planning.len(),
                    read.repairs.len()
                ),
                Err(problem) => problem.to_string(),
            };
            report += &format!("{name}  {said}\n");
        }

        report.push('\n');
    }

    insta::assert_snapshot!(report);
}

/// What was repaired says no more than the reply did: every word of the thought is in the raw text.
#[test]
fn repairs_make_no_words_up() {
    for (name, text, _) in replies() {
        let Ok(read) = Reply::read(&text) else {
            continue;
        };

        let plan = &read.reply.planning;
        let texts = plan.walk().flat_map(|entry| {
            let step = entry.step;
            [
                Some(&step.description),
                step.result.as_ref(),
                step.mark.as_ref(),
            ]
            .into_iter()
            .flatten()
        });

        for word in texts
            .chain([&read.reply.current_thinking])
            .flat_map(|text| text.split_whitespace())
        {
            assert!(text.contains(word), "{name}: {word}");
        }
    }
}
