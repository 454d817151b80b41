//! What a record must not contain.

use std::borrow::Cow;

use cogwork_flow::watch::{note, report_from};
use cogwork_flow::{Flow, from_fn, from_phases};
use cogwork_llm::{ChatResponse, ScriptedClient, Usage};
use cogwork_text::Mask;
use cogwork_trace::RecorderSettings;
use serde_json::{Value, json};

use crate::support::{TestRecord, asking};

const SECRET: &str = "sk-pa\"ss/word";

/// A flow that says the secret in everything that it reports.
fn leaking() -> Flow<u32> {
    let leak = from_phases(
        |_: &mut u32| {
            report_from("reasoning", || {
                json!({
                    "type": "thought",
                    "thought": 1,
                    "text": format!("the key is {SECRET}"),
                    "plan": [{"description": SECRET, "status": "Done", "result": 42}],
                    SECRET: true,
                })
            });
        },
        |()| async {
            note(|| format!("with {SECRET}"));
            Err::<(), _>(std::io::Error::other(format!("refused {SECRET}")))
        },
        |_, ()| (),
    );

    Flow::from_node("leak", leak).unwrap()
}

async fn recorded(settings: RecorderSettings) -> TestRecord {
    let record = TestRecord::new();
    let recorder = record.recorder(settings);
    let flow = leaking();
    let run = flow.begin().with_id("r").with_events(&recorder);
    { run }.finish(&mut 0).await.unwrap_err();
    recorder.flush().await.unwrap();

    record
}

fn contains_secret(record: &TestRecord) -> bool {
    let text = record.text();
    text.contains("sk-pa") || text.contains("word")
}

#[tokio::test(start_paused = true)]
async fn secrets_are_hidden_everywhere() {
    let mask = Mask::new().with_value(SECRET, "[the key]");
    let settings = RecorderSettings::default().with_secrets(move |text| mask.hide(text));
    let record = recorded(settings).await;

    assert!(!contains_secret(&record), "{}", record.text());
    assert_eq!(record.text().matches("[the key]").count(), 5);
    insta::assert_snapshot!(record.text());

    // Without the mask, they would be there.
    assert!(contains_secret(
        &recorded(RecorderSettings::default()).await
    ));
}

/// A flow that reports a value with a source.
fn reporting(source: &'static str, report: Value) -> Flow<u32> {
    let node = from_fn(move |_: &mut u32| report_from(source, || report.clone()));
    Flow::from_node("node", node).unwrap()
}

async fn text_of(flow: Flow<u32>, id: &str, settings: RecorderSettings) -> String {
    let record = TestRecord::new();
    let recorder = record.recorder(settings);
    let mut run = flow.begin().with_id(id).with_events(&recorder);
    run.finish(&mut 0).await.unwrap();
    recorder.flush().await.unwrap();

    record.text()
}

/// Texts that have a place in the same fields as names, and in fields of the same name.
fn reports() -> [(&'static str, Value); 6] {
    let said = "private 1";
    let changed = |kind: &str| json!({"change": kind, "path": "1", "from": said, "to": said});
    let changes = ["result_changed", "mark_changed", "reworded"].map(changed);
    let other =
        json!({"name": said, "id": said, "to": said, "model": [said], "status": {"kind": said}});

    [
        ("reasoning", json!({"type": "thought", "changes": changes})),
        (
            "solving",
            json!({"type": "stage", "parameters": {"status": said, "to": said}}),
        ),
        ("solving", json!({"type": "branch", "name": said})),
        (
            "mine",
            json!({"type": "saved", "customer": other, said: true, "names": [said]}),
        ),
        ("mine", json!([said, {"role": said}])),
        ("mine", json!(said)),
    ]
}

#[tokio::test(start_paused = true)]
async fn without_content_no_text_is_taken_for_a_name() {
    for (source, report) in reports() {
        let settings = RecorderSettings::default().without_content();
        let text = text_of(reporting(source, report), "r", settings).await;
        assert!(!text.contains("private"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_is_applied_where_names_would_be() {
    for (source, report) in reports() {
        let settings = RecorderSettings::default()
            .with_redaction(|text| Cow::Owned(text.replace("private", "hidden")));
        let text = text_of(reporting(source, report), "r", settings).await;
        assert!(
            !text.contains("private") && text.contains("hidden"),
            "{text}"
        );
    }
}

/// Names of nodes, branches and runs, and numbers, may contain a secret, too.
#[tokio::test(start_paused = true)]
async fn secrets_are_hidden_in_names_and_numbers() {
    let mask = Mask::new().with_value("hunter/2", "[the key]");
    let mask = mask.with_value("87654321", "[the number]");
    let settings = RecorderSettings::default().with_secrets(move |text| mask.hide(text));

    let inner = Flow::from_node("inner hunter/2", from_fn(|_: &mut u32| ())).unwrap();
    let report = json!({"type": "saved", "pin": 87654321, "others": [87654321, 5]});
    let leak = from_fn(move |_: &mut u32| report_from("mine", || report.clone()));
    let flow = Flow::builder("flow hunter/2")
        .node("leak hunter/2", leak)
        .subflow("sub hunter/2", inner, |state: &mut u32| state)
        .chain(["leak hunter/2", "sub hunter/2"])
        .build()
        .unwrap();

    let text = text_of(flow, "run hunter/2", settings.clone()).await;
    for secret in ["hunter", "87654321"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(text.contains(r#""others":["[the number]",5]"#), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_rule_is_applied_to_each_text() {
    let settings = RecorderSettings::default().with_redaction(|text| {
        let is_secret = text.contains("sk-");
        Cow::Borrowed(if is_secret { "[redacted]" } else { text })
    });
    let record = recorded(settings).await;

    // Keys aren't texts.
    let text = record.text().replace(r#""sk-pa\"ss/word":true"#, "");
    assert!(!text.contains("sk-pa"), "{text}");
    assert!(text.contains(r#""content":"redacted""#));
}

#[tokio::test(start_paused = true)]
async fn without_content_there_are_only_names_and_numbers() {
    let record = TestRecord::new();
    let recorder = record.recorder(RecorderSettings::default().without_content());
    let reply = ChatResponse::new("I think:\n8").with_usage(Usage::new(100, 20));
    let flow = asking(ScriptedClient::new([ChatResponse::new("private"), reply]));
    let run = flow.begin().with_id("r").with_events(&recorder);
    { run }.finish(&mut 0).await.unwrap();
    recorder.flush().await.unwrap();

    let text = record.text();
    for said in [
        "spider",
        "legs",
        "private",
        "I think",
        "not a number",
        "left out",
    ] {
        assert!(!text.contains(said), "{said} in {text}");
    }
    insta::assert_snapshot!(text);
}

#[tokio::test(start_paused = true)]
async fn without_content_nothing_is_left_of_reports() {
    let settings = RecorderSettings::default().without_content();
    let record = recorded(settings).await;
    let text = record.text();

    assert!(!text.contains("the key is"), "{text}");
    assert!(!text.contains("refused"), "{text}");
    assert!(text.contains(r#""status":"Done""#), "{text}");
}
