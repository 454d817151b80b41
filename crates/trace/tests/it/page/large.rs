//! Pages of large records.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{events, header, html, length, note, page, page_within, record};

fn report(step: &str, source: &str, report: Value) -> Value {
    json!({"step": step, "at": 1.0, "type": "reported", "source": source, "report": report})
}

/// Returns a number that looks random, so that texts don't compress better than those of a model.
fn scrambled(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 20
}

/// Returns about ten words for each sentence.
fn prose(seed: u64, sentences: u64) -> String {
    const WORDS: &str = "the sum of both distances is checked against speed and time so we multiply \
                         before adding which gives a result that may be wrong";
    let words: Vec<_> = WORDS.split(' ').collect();

    let mut text = String::new();
    for sentence in 0..sentences {
        for word in 0..9 {
            let random = scrambled(seed * 1_000 + sentence * 10 + word);
            let index = usize::try_from(random % 24).unwrap();
            text.push_str(words.get(index).unwrap());
            text.push(' ');
        }
        let _ = write!(text, "{}. ", scrambled(seed + sentence) % 100_000);
    }

    text
}

/// Returns the events of a turn of a chain of thought, with the messages, the reply and the plan.
fn turn(number: u64) -> Vec<Value> {
    let step = format!("chain/think#{number}");
    let thinking = prose(number, 4);
    let plan: Vec<_> = (0..8)
        .map(|index| json!({"description": prose(index, 1), "status": if index < number % 8 { "Done" } else { "Pending" }}))
        .collect();
    let reply =
        json!({"current_thinking": thinking, "planning": plan, "next_thought_needed": true});
    let question = format!("This is thought {number}. The plan: {}", json!(plan));
    let id = number * 2;

    vec![
        json!({"step": step, "at": number, "type": "step_entered"}),
        report(
            &step,
            "chat",
            json!({"type": "message", "id": id, "role": "user", "content": question}),
        ),
        report(
            &step,
            "chat",
            json!({"type": "chat", "call": number, "model": "qwen3-4b", "messages": [[0, id]], "settings": {"temperature": 0.2},
            "took": 0.8, "reply": reply.to_string(), "finish": "stop", "usage": {"input": 900 + number, "output": 120}}),
        ),
        report(
            &step,
            "chat",
            json!({"type": "judged", "call": number, "verdict": "usable"}),
        ),
        report(
            &step,
            "reasoning",
            json!({"type": "thought", "thought": number, "text": thinking, "plan": plan, "next_thought_needed": true}),
        ),
        report(
            &step,
            "chat",
            json!({"type": "message", "id": id + 1, "role": "assistant", "content": thinking}),
        ),
        json!({"step": step, "at": number, "type": "moved", "action": "continue", "to": "think"}),
    ]
}

#[test]
fn of_a_thousand_thoughts_take_less_than_a_megabyte() {
    let record = record(&header(), (1..=1_000).flat_map(turn));
    let page = page(&record);
    let html = html(&page);

    assert!(length(&record) > 3_000_000, "{} bytes", length(&record));
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
    assert!(page.notes().is_empty(), "{:?}", page.notes());
    assert_eq!(events(&html).len(), 7_000);
}

#[test]
fn shorten_long_texts_first() {
    let texts = (0..100).map(|number| note(prose(number, 150)));
    let record = record(&header(), texts.chain([note("short")]));
    let page = page_within(&record, 300_000);
    let events = events(&html(&page));

    let lengths: Vec<_> = events
        .iter()
        .map(|event| event["text"].as_str().unwrap().len())
        .collect();
    assert_eq!(events.len(), 101);
    assert!(
        lengths[..100]
            .iter()
            .all(|length| *length == 1024 + '…'.len_utf8()),
        "{lengths:?}"
    );
    assert_eq!(lengths[100], "short".len());
    assert_eq!(
        page.notes(),
        ["The record is too large for a page: texts of 100 events are shortened to 1024 bytes."]
    );
}

#[test]
fn leave_out_the_middle_if_short_texts_are_too_many() {
    let record = record(
        &header(),
        (0..20_000).map(|number| note(number.to_string())),
    );
    let page = page_within(&record, 200_000);
    let events = events(&html(&page));

    let bytes: usize = events.iter().map(|event| event.to_string().len()).sum();
    assert!(bytes <= 200_000 + 100, "{bytes} bytes");
    assert_eq!(events.first().unwrap()["text"], "0");
    assert_eq!(events.last().unwrap()["text"], "19999");

    let gap = events
        .iter()
        .find(|event| event["type"] == "left_out")
        .unwrap();
    let left_out = gap["events"].as_u64().unwrap();
    assert_eq!(left_out + events.len() as u64 - 1, 20_000);
    assert!(
        page.notes()[1].contains(&left_out.to_string()),
        "{:?}",
        page.notes()
    );
}

#[test]
fn keep_names_of_steps_whole() {
    let name = format!("shop/{}#1", "n".repeat(2_000));
    let long = (0..100).map(|number| {
        let text = prose(number, 20);
        json!({"step": name, "at": 0.25, "type": "noted", "text": text})
    });
    let page = page_within(&record(&header(), long), 230_000);

    assert!(
        events(&html(&page))
            .iter()
            .all(|event| event["step"] == name.as_str() || event["type"] == "left_out")
    );
}
