//! Outcomes are stored once, and shown as the settings of the recorder allow.

use cogwork_flow::engine::{CannotWait, wait_for};
use cogwork_flow::{Action, Flow, Node, Wait, from_phases};
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

/// A node that asks for approval of something that it is about to do.
struct Asking;

impl Node<bool> for Asking {
    type Prep = ();
    type Exec = bool;
    type Error = CannotWait;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, _: &mut bool) -> Result<(), CannotWait> {
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<bool, CannotWait> {
        let answer = wait_for("approve", "May I?", None, None).await?;
        Ok(answer.unwrap_or_default())
    }

    fn post(&self, state: &mut bool, (): (), granted: bool) -> Result<Action, CannotWait> {
        *state = granted;
        Ok(Action::DEFAULT)
    }
}

#[tokio::test]
async fn have_what_was_answered_to_a_call_inside_a_node_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let flow = Flow::from_node("agent", Asking).unwrap();

    for _ in 0..3 {
        let journal = store.start_or_resume("r", &flow, &false).await.unwrap();
        let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
        let run = flow.begin().with_journal(journal).with_events(&recorder);
        let paused = { run }.finish(&mut false).await.is_err();
        recorder.flush().await.unwrap();
        if paused {
            store.deliver("r", "approve", &true).await.unwrap();
        }
    }

    let events = EventReader::new(&store, "r", 0).next().await.unwrap();
    let events = events.iter().map(|event| serde_json::from_str(&event.json));
    let events: Vec<Value> = events.collect::<Result<_, _>>().unwrap();
    let answered: Vec<_> = events
        .iter()
        .filter(|event| event["outcome"] == true)
        .collect();
    assert_eq!(answered.len(), 1, "{events:?}");
    assert_eq!(answered[0]["step"], "agent/agent#1.1/approve.1");
}
