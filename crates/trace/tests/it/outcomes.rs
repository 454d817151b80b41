//! Outcomes are stored once, and shown as the settings of the recorder allow.

use cogwork_flow::{Flow, Wait, from_phases};
use cogwork_journal::Store;
use cogwork_text::Mask;
use cogwork_trace::{EventReader, RecorderSettings, RunRecorder};
use serde_json::{Value, json};

const SECRET: &str = "hunter22";

/// A flow that doubles a number, names a secret, and waits for an answer.
fn flow() -> Flow<String> {
    let write = |text: &'static str| {
        from_phases(
            |_: &mut String| (),
            move |()| async move { Ok::<_, std::io::Error>(text.to_owned()) },
            |all: &mut String, text| all.push_str(&text),
        )
    };
    let ask = Wait::for_event("name", |all: &mut String, name: String| all.push_str(&name));

    Flow::builder("letter")
        .node("greet", write("Dear "))
        .node("tell", write("hunter22, "))
        .wait("ask", ask)
        .chain(["greet", "tell", "ask"])
        .build()
        .unwrap()
}

/// Runs the flow, and returns the events as they are stored, and as they are read.
async fn recorded(settings: RecorderSettings) -> [Vec<Value>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let flow = flow();
    let journal = store.start("r", &flow, &String::new()).await.unwrap();
    let recorder = RunRecorder::new(&journal, settings).await;

    let mut letter = String::new();
    let mut run = flow.begin().with_journal(journal).with_events(&recorder);
    run.finish(&mut letter).await.unwrap_err();
    run.deliver("name", &"Ada").await.unwrap();
    run.finish(&mut letter).await.unwrap();
    assert_eq!(letter, "Dear hunter22, Ada");
    recorder.flush().await.unwrap();

    let stored = store.events("r", 0).await.unwrap();
    let read = EventReader::new(&store, "r", 0).next().await.unwrap();
    [stored, read].map(|events| {
        let events = events.iter().map(|event| &event.json);
        let events = events.map(|json| serde_json::from_str(json).unwrap());
        events.collect()
    })
}

fn outcomes(events: &[Value]) -> Vec<Option<&Value>> {
    let outcomes = events.iter().filter(|event| event["type"] == "outcome");
    outcomes.map(|event| event.get("outcome")).collect()
}

#[tokio::test]
async fn are_read_from_the_journal() {
    let [stored, read] = recorded(RecorderSettings::default()).await;

    assert_eq!(outcomes(&stored), [None, None, None]);
    let shown = ["Dear ", "hunter22, ", "Ada"].map(Value::from);
    assert_eq!(outcomes(&read), shown.each_ref().map(Some));
}

#[tokio::test]
async fn with_secrets_are_shown_without_them() {
    let mask = Mask::new().with_value(SECRET, "[the password]");
    let settings = RecorderSettings::default().with_secrets(move |text| mask.hide(text));
    let [stored, read] = recorded(settings).await;

    let hidden = json!("[the password], ");
    assert_eq!(outcomes(&stored), [None, Some(&hidden), None]);
    assert_eq!(outcomes(&read)[1], Some(&hidden));
}

#[tokio::test]
async fn are_not_shown_without_content() {
    let settings = RecorderSettings::default().without_content();
    let [_, read] = recorded(settings).await;

    assert_eq!(outcomes(&read), [None, None, None]);
}

#[tokio::test]
async fn of_a_run_without_a_journal_are_in_its_events() {
    let recorder = RunRecorder::in_memory(RecorderSettings::default());
    let flow = flow();
    let mut run = flow.begin().with_events(&recorder);
    run.finish(&mut String::new()).await.unwrap_err();

    let events = recorder.events();
    let events = events
        .iter()
        .map(|json| serde_json::from_str(json).unwrap());
    let events: Vec<_> = events.collect();
    let shown = ["Dear ", "hunter22, "].map(Value::from);
    assert_eq!(outcomes(&events), shown.each_ref().map(Some));
}
