use std::sync::Mutex;
use std::time::Duration;

use cogwork_flow::watch::events;
use cogwork_flow::{Action, Flow, from_fn};
use cogwork_restate::Workflow;

use crate::support::server::server;
use crate::support::unique;
use crate::support::worker::Worker;

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
async fn the_events_of_a_run_reach_the_sink_of_its_key() {
    let Some(server) = server() else { return };
    let name = unique("Counts");
    let (sink, mut seen) = events(100);
    let sink = Mutex::new(Some(sink));
    let workflow = Workflow::new(name.as_str(), counts())
        .unwrap()
        .with_events(move |key| {
            assert_eq!(key, "a");
            sink.lock().unwrap().take().unwrap()
        });
    let worker = Worker::start(workflow.endpoint());
    server.register(worker.port).await;
    let client = server.client(&name);

    client.start("a", &0).await.unwrap();
    assert_eq!(client.attach::<u32>("a").await.unwrap(), 2);

    let mut lines = Vec::new();
    while let Some(event) = seen.next().await {
        let line = event.to_string();
        if !line.contains("finished") {
            lines.push(line);
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
    a: started
    a: counts/count#1 entered
    a: counts/count#1 moved on `again` to count
    a: counts/count#2 entered
    a: counts/count#2 ended on `default` after 2 steps in all
    ");
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
