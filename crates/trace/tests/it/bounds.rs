//! The sizes of texts, events and records are limited.

use cogwork_flow::watch::{note, report_from};
use cogwork_flow::{Flow, from_fn};
use cogwork_trace::RecorderSettings;
use serde_json::{Value, json};

use crate::support::TestRecord;

async fn recorded(
    settings: RecorderSettings,
    act: impl Fn() + Send + Sync + 'static,
) -> TestRecord {
    let record = TestRecord::new();
    let recorder = record.recorder(settings);
    let flow = Flow::from_node("act", from_fn(move |_: &mut u32| act())).unwrap();
    let mut run = flow.begin().with_events(&recorder);
    run.finish(&mut 0).await.unwrap();
    recorder.flush().await.unwrap();

    record
}

fn reports(record: &TestRecord) -> Vec<Value> {
    let events = record.events().into_iter();
    events
        .filter_map(|mut event| event.as_object_mut()?.remove("report"))
        .collect()
}

#[tokio::test]
async fn a_long_text_is_cut_between_characters_and_its_size_is_recorded() {
    let settings = RecorderSettings::default().with_max_text(10);
    let record = recorded(settings, || {
        report_from("test", || {
            json!({
                "type": "x",
                "text": "äöüäöüäöü",
                "short": "äöüäö",
                "list": ["0123456789a", "b"],
                "inner": {"deep": "0123456789ab"},
            })
        });
        note(|| "a note that is too long".to_owned());
    })
    .await;

    insta::assert_snapshot!(reports(&record)[0], @r#"{"cut":{"list.0":11,"text":18},"inner":{"cut":{"deep":12},"deep":"0123456789"},"list":["0123456789","b"],"short":"äöüäö","text":"äöüäö","type":"x"}"#);
    assert!(record.text().contains(r#""text":"a note tha""#));
    assert!(record.text().contains(r#""cut":{"text":23}"#));
}

#[tokio::test]
async fn of_an_event_that_is_too_large_only_the_type_is_recorded() {
    let settings = RecorderSettings::default()
        .with_max_text(100)
        .with_max_event(1_000);
    let record = recorded(settings, || {
        let many: Vec<_> = (0..1_000).collect();
        report_from(
            "test",
            || json!({"type": "many", "thought": 3, "numbers": many}),
        );
    })
    .await;

    assert_eq!(reports(&record)[0]["type"], "many");
    assert_eq!(reports(&record)[0]["thought"], 3);
    assert!(record.text().lines().all(|line| line.len() < 1_000));
}

/// Also if no single text is too long, and if what identifies the event is.
#[tokio::test]
async fn an_event_is_never_larger_than_the_maximum() {
    let long = "x".repeat(5_000);
    let reports = [
        json!({"type": "long", "text": long}),
        json!({"type": long, "id": long, "role": {"deep": long}, "thought": [long]}),
    ];

    for report in reports {
        let settings = RecorderSettings::default()
            .with_max_text(10_000)
            .with_max_event(1_000);
        let record = recorded(settings, move || report_from("test", || report.clone())).await;
        assert!(record.text().lines().all(|line| line.len() < 1_200));
    }
}

/// The names that a model writes, such as those of tools, are as long as it likes.
#[tokio::test]
async fn a_long_name_is_cut() {
    let settings = RecorderSettings::default().with_max_text(10);
    let record = recorded(settings, || {
        let call = json!({"type": "tool_call", "id": "i".repeat(99), "name": "n".repeat(99)});
        report_from("tool", || call.clone());
    })
    .await;

    let report = &reports(&record)[0];
    assert_eq!(report["name"], "n".repeat(10));
    assert_eq!(report["cut"], json!({"id": 99, "name": 99}));
}

#[tokio::test]
async fn a_full_record_says_so_and_stays_below_its_limit() {
    let settings = RecorderSettings::default().with_max_record(5_000);
    let record = recorded(settings, || {
        for number in 0..1_000 {
            note(|| format!("note {number}"));
        }
    })
    .await;

    let bytes = record.text().len();
    assert!((4_800..5_100).contains(&bytes), "{bytes} bytes");
    let last = record.events().pop().unwrap();
    assert_eq!(last["type"], "full");
    assert_eq!(last["limit"], 5_000);
}

#[tokio::test]
async fn a_value_that_cannot_be_written_is_recorded_as_its_error() {
    use std::collections::HashMap;

    let record = recorded(RecorderSettings::default(), || {
        let map: HashMap<(u8, u8), u8> = [((1, 2), 3)].into();
        report_from("test", || map);
    })
    .await;

    insta::assert_snapshot!(reports(&record)[0], @r#"{"error":"key must be a string","type":"unwritable"}"#);
}

#[tokio::test]
async fn deep_and_hostile_values_stay_readable() {
    let record = recorded(RecorderSettings::default(), || {
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
