//! Events in the journals of runs.

use std::num::NonZeroU64;

use cogwork_flow::watch::note;
use cogwork_flow::{Flow, Wait, from_fn};
use cogwork_journal::Store;
use cogwork_llm::ScriptedClient;
use cogwork_trace::{RecorderSettings, RunRecorder};
use serde_json::{Value, json};

use crate::support::asking;

pub(crate) async fn events(store: &Store, run_id: &str) -> Vec<Value> {
    let mut events = Vec::new();
    let mut from = 0;
    while let Some(part) = Some(store.events(run_id, from).await.unwrap())
        && let Some(last) = part.last()
    {
        from = last.next;
        events.extend(
            part.iter()
                .map(|event| serde_json::from_str::<Value>(&event.json).unwrap()),
        );
    }
    events
}

fn names(events: &[Value]) -> Vec<&str> {
    let names = events.iter().map(|event| event["type"].as_str());
    names.map(Option::unwrap).collect()
}

#[tokio::test]
async fn a_resumed_run_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());

    for _ in 0..2 {
        let flow = asking(ScriptedClient::new(["8"]));
        let journal = store.start_or_resume("r", &flow, &0).await.unwrap();
        let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
        let mut run = flow.begin().with_journal(journal).with_events(&recorder);
        run.finish(&mut 0).await.unwrap();
        recorder.flush().await.unwrap();
        assert_eq!(recorder.events(), Vec::<String>::new());
    }

    let events = events(&store, "r").await;
    let ends = ["opened", "run_started", "ended"].map(|name| {
        names(&events)
            .iter()
            .filter(|other| **other == name)
            .count()
    });
    assert_eq!(ends, [2, 2, 2]);
    assert_eq!(events[0]["graph"]["nodes"][0]["name"], "count");
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_it_waits_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let wait = Wait::for_event("ok", |_: &mut u32, _: bool| ());
    let flow = Flow::builder("ask").wait("ask", wait).chain(["ask"]);
    let flow = flow.build().unwrap();

    for (run, is_recorded) in [("r", true), ("quiet", false)] {
        let journal = store.start(run, &flow, &0).await.unwrap();
        let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
        let mut run = flow.begin().with_journal(journal);
        if is_recorded {
            run = run.with_events(&recorder);
        }
        run.finish(&mut 0).await.unwrap_err();
    }
    for run in ["r", "quiet"] {
        store.cancel(run, "no longer wanted").await.unwrap();
    }

    let recorded = events(&store, "r").await;
    let ends = recorded[recorded.len() - 2..].iter();
    let ends: Vec<_> = ends.map(|end| (&end["type"], &end["error"])).collect();
    assert_eq!(
        ends,
        [
            (&json!("paused"), &json!(null)),
            (&json!("failed"), &json!("no longer wanted"))
        ]
    );
    assert_eq!(events(&store, "quiet").await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_events_of_another_run_are_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let flow = asking(ScriptedClient::new(["8"]));
    let journal = store.start("r", &flow, &0).await.unwrap();

    let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
    let mut run = flow.begin().with_id("other").with_events(&recorder);
    run.finish(&mut 0).await.unwrap();
    recorder.flush().await.unwrap();
    assert_eq!(events(&store, "r").await, Vec::<Value>::new());
}

#[tokio::test]
async fn what_waits_to_be_written_is_limited_and_what_is_lost_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let text = "a".repeat(200_000);
    let say = from_fn(move |_: &mut u32| (0..200).for_each(|_| note(|| text.clone())));
    let flow = Flow::from_node("say", say).unwrap();

    let journal = store.start("r", &flow, &0).await.unwrap();
    let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
    let mut run = flow.begin().with_journal(journal).with_events(&recorder);
    run.finish(&mut 0).await.unwrap();
    recorder.flush().await.unwrap();

    let events = events(&store, "r").await;
    let noted = names(&events)
        .iter()
        .filter(|name| **name == "noted")
        .count();
    let lost = events.iter().filter(|event| event["type"] == "lost");
    let lost: u64 = lost.map(|event| event["count"].as_u64().unwrap()).sum();
    assert!((1..200).contains(&noted), "{noted}");
    assert!(lost >= 200 - noted as u64, "{lost}");
}

#[tokio::test]
async fn a_fold_keeps_all_events() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let flow = asking(ScriptedClient::new(["8"]));
    let journal = store.start("r", &flow, &0).await.unwrap();
    let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;

    let run = flow.begin().with_journal(journal).with_events(&recorder);
    let mut run = run.with_fold_every(NonZeroU64::MIN);
    run.finish(&mut 0).await.unwrap();
    recorder.flush().await.unwrap();
    assert_eq!(
        names(&events(&store, "r").await)[..2],
        ["opened", "run_started"]
    );
}

#[tokio::test]
async fn a_run_whose_future_is_dropped_leaves_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let stuck = cogwork_flow::from_phases(
        |_: &mut u32| (),
        |()| async {
            note(|| "begun".to_owned());
            std::future::pending::<Result<(), std::io::Error>>().await
        },
        |_, ()| (),
    );
    let flow = Flow::from_node("stuck", stuck).unwrap();
    let journal = store.start("r", &flow, &0).await.unwrap();
    let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;

    let mut number = 0;
    let mut run = flow.begin().with_journal(journal).with_events(&recorder);
    tokio::select! {
        biased;
        _ = run.finish(&mut number) => {}
        () = tokio::task::yield_now() => {}
    }
    drop(run);
    recorder.flush().await.unwrap();
    assert_eq!(names(&events(&store, "r").await).last(), Some(&"noted"));
}
