use std::sync::Arc;
use std::time::Duration;

use cogwork::trace::{RecorderSettings, RunRecorder};
use cogwork_flow::{Action, Flow, from_fn};
use cogwork_journal::Store;
use cogwork_restate::Workflow;

use crate::support::server::server;
use crate::support::worker::Worker;
use crate::support::{unique, until};

fn counts() -> Flow<u32> {
    let count = from_fn(|count: &mut u32| {
        *count += 1;
        Action::from_static(if *count < 2 { "again" } else { "default" })
    });

    Flow::builder("counts")
        .start("count")
        .node("count", count.with_actions(["again", "default"]))
        .edge("count", "again", "count")
        .end("count", "default")
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_events_of_a_run_go_to_a_store() {
    let Some(server) = server() else { return };
    let name = unique("Counts");
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let flow = Arc::new(counts());
    let runs = store.clone();
    let workflow = Workflow::new(name.as_str(), Arc::clone(&flow)).unwrap();
    let workflow = workflow.with_events(move |key| {
        let (runs, flow) = (runs.clone(), Arc::clone(&flow));
        async move {
            let journal = runs.start_or_resume_any_input(&key, &flow, &0).await;
            let recorder = RunRecorder::owning(journal.unwrap(), RecorderSettings::default()).await;
            Some(recorder.sink())
        }
    });
    let worker = Worker::start(workflow.endpoint());
    server.register(worker.port).await;
    let client = server.client(&name);

    client.start("a", &0).await.unwrap();
    assert_eq!(client.attach::<u32>("a").await.unwrap(), 2);

    // The run is given back once all of its events are written.
    let is_free = || async { !store.is_in_use("a").await.unwrap() };
    until("the run is given back", is_free).await;
    let events = store.events("a", 0).await.unwrap();
    let types = events.iter().map(|event| {
        let event: serde_json::Value = serde_json::from_str(&event.json).unwrap();
        event["type"].as_str().unwrap().to_owned()
    });
    let types: Vec<_> = types.filter(|name| name != "phase_finished").collect();
    let expected = "opened run_started step_entered moved step_entered ended";
    assert_eq!(types.join(" "), expected);
}

#[tokio::test]
async fn the_longest_call_is_the_abort_timeout() {
    let Some(server) = server() else { return };
    let name = unique("Counts");
    let workflow = Workflow::new(name.as_str(), counts()).unwrap();
    let workflow = workflow.with_longest_call(Duration::from_secs(90));
    let worker = Worker::start(workflow.endpoint());
    server.register(worker.port).await;

    let services = server.services(&name).await;
    assert_eq!(services.len(), 1, "{services:?}");
    assert_eq!(services[0]["abort_timeout"], "1m 30s", "{services:?}");
}
