//! What a record must not contain.

#[path = "../../../text/tests/support/secret.rs"]
mod secret;

use cogwork_flow::watch::{note, report_from};
use cogwork_flow::{Flow, from_fn, from_phases};
use cogwork_text::Mask;
use cogwork_trace::RecorderSettings;
use serde_json::json;

use crate::support::TestRecord;
use secret::{FORMS, SECRET, assert_hidden};

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
            note(|| format!("with {}", FORMS.join(" and ")));
            Err::<(), _>(std::io::Error::other(format!("refused {SECRET}")))
        },
        |_, ()| (),
    );

    Flow::from_node("leak", leak).unwrap()
}

async fn recorded(settings: RecorderSettings) -> TestRecord {
    TestRecord::of(leaking(), 0, settings).await
}

#[tokio::test(start_paused = true)]
async fn secrets_are_hidden_everywhere() {
    let mask = Mask::new().with_value(SECRET, "[the key]");
    let settings = RecorderSettings::default().with_secrets(move |text| mask.hide(text));
    let record = recorded(settings).await;

    assert_hidden(&record.text());
    assert_eq!(record.text().matches("[the key]").count(), 4 + FORMS.len());
    insta::assert_snapshot!(record.text());

    // Without the mask, they would be there.
    let record = recorded(RecorderSettings::default()).await;
    assert!(record.text().contains("sk-pa"));
}

#[tokio::test(start_paused = true)]
async fn no_text_is_recorded_without_content() {
    let settings = RecorderSettings::default()
        .with_input(SECRET)
        .without_content();
    let record = recorded(settings).await;

    assert_hidden(&record.text());
    insta::assert_snapshot!(record.text());
}

async fn text_of(flow: Flow<u32>, id: &str, settings: RecorderSettings) -> String {
    let record = TestRecord::new();
    let recorder = record.recorder(settings);
    let mut run = flow.begin().with_id(id).with_events(&recorder);
    run.finish(&mut 0).await.unwrap();
    recorder.flush().await.unwrap();

    record.text()
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
