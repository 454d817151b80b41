//! Pages of large records.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{events, header, html, length, page, record};

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
    assert_eq!(events(&html).len(), 7_000);
}
