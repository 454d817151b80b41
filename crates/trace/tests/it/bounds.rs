//! The sizes of texts, events and records are limited.

use cogwork_flow::watch::{note, report_from};
use cogwork_flow::{Flow, from_fn};
use cogwork_trace::RecorderSettings;
use serde_json::{Value, json};

use crate::support::TestRecord;

async fn recorded(act: impl Fn() + Send + Sync + 'static) -> TestRecord {
    let node = from_fn(move |_: &mut u32| act());
    let flow = Flow::from_node("act", node).unwrap();
    TestRecord::of(flow, 0, RecorderSettings::default()).await
}

fn reports(record: &TestRecord) -> Vec<Value> {
    let events = record.events().into_iter();
    events
        .filter_map(|mut event| event.as_object_mut()?.remove("report"))
        .collect()
}

/// Also one that a model writes where a name belongs.
#[tokio::test]
async fn a_long_text_is_cut_between_characters_and_its_size_is_recorded() {
    let record = recorded(|| {
        let long = format!("x{}", "ä".repeat(200_000));
        report_from("test", || json!({"type": "x", "list": [{"name": long}]}));
    })
    .await;

    let name = reports(&record)[0]["list"][0]["name"].clone();
    let (kept, size) = name.as_str().unwrap().split_once('…').unwrap();
    assert_eq!(kept.len(), 256 * 1024 - 1);
    assert_eq!(size, " (cut: 400001 bytes)");
}

#[tokio::test]
async fn a_full_record_says_so_and_stays_below_its_limit() {
    let record = recorded(|| {
        let text = "x".repeat(200_000);
        for _ in 0..400 {
            note(|| text.clone());
        }
    })
    .await;

    let text = record.text();
    assert!((63 << 20..64 << 20).contains(&text.len()), "{}", text.len());
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "full");
    assert_eq!(last["limit"], 64 << 20);
}

#[tokio::test]
async fn a_value_that_cannot_be_written_is_recorded_as_its_error() {
    use std::collections::HashMap;

    let record = recorded(|| {
        let map: HashMap<(u8, u8), u8> = [((1, 2), 3)].into();
        report_from("test", || map);
    })
    .await;

    insta::assert_snapshot!(reports(&record)[0], @r#"{"error":"key must be a string","type":"unwritable"}"#);
}

#[tokio::test]
async fn deep_and_hostile_values_stay_readable() {
    let record = recorded(|| {
        let deep = (0..32).fold(
            json!("</script>\u{202e}\u{1b}[2J\u{0}"),
            |inner, _| json!({"description": inner, "sub_steps": []}),
        );
        report_from("reasoning", || json!({"type": "thought", "plan": deep}));
    })
    .await;

    assert_eq!(record.events().last().unwrap()["type"], "ended");
    // Control characters are escaped, so they cannot end a line or act on a terminal.
    assert!(!record.text().contains(['\u{1b}', '\u{0}']));
}
