//! Workers, servers and networks that fail while a run is in progress.

use std::time::Duration;

use cogwork_restate::{Client, Workflow};

use crate::support::counted::{Calls, State, flow};
use crate::support::server::{OwnServer, server};
use crate::support::worker::{Worker, endpoint};
use crate::support::{unique, until};

const DOUBLE: &str = "a:counted/double#1";

async fn waits(client: &Client) {
    until("the run waits", || async {
        let progress = client.progress("a").await;
        progress.is_ok_and(|progress| progress.is_some_and(|progress| progress.waits_for.is_some()))
    })
    .await;
}

#[tokio::test]
async fn a_worker_that_is_killed_loses_only_what_was_in_flight() {
    let Some(server) = server() else { return };
    let name = unique("Counted");
    let calls = Calls::default();
    let workflow = || {
        let flow = flow(&calls, Duration::from_millis(300), 1);
        Workflow::new(name.as_str(), flow).unwrap()
    };
    let client = server.client(&name);

    let mut worker = Worker::start(endpoint(workflow()));
    let port = worker.port;
    server.register(port).await;
    client.start("a", &[3, 4, 5, 6]).await.unwrap();

    // During the step, during the wait, and during the batch.
    until("the step runs", || async { calls.times(DOUBLE) == 1 }).await;
    worker.kill();
    worker = Worker::start_at(port, endpoint(workflow()));
    waits(&client).await;
    worker.kill();
    worker = Worker::start_at(port, endpoint(workflow()));
    client.deliver("a", "go", &true).await.unwrap();
    until("the third item runs", || async {
        calls.times("a:counted/add#3[2]") == 1
    })
    .await;
    worker.kill();
    let _worker = Worker::start_at(port, endpoint(workflow()));

    assert_eq!(client.attach::<State>("a").await.unwrap(), [7, 5, 6, 7]);
    assert_eq!(calls.times(DOUBLE), 2);
    for item in 0..2 {
        assert_eq!(
            calls.times(&format!("a:counted/add#3[{item}]")),
            1,
            "item {item}"
        );
    }
    assert_eq!(calls.times("a:counted/add#3[2]"), 2);
}

#[tokio::test]
async fn a_run_continues_after_its_server_was_killed() {
    let Some(mut own) = OwnServer::start().await else {
        return;
    };
    let server = own.server.clone();
    let calls = Calls::default();
    let workflow = Workflow::new("Counted", flow(&calls, Duration::from_millis(500), 1));
    let worker = Worker::start(endpoint(workflow.unwrap()));
    server.register(worker.port).await;
    let client = server.client("Counted");

    // During the step, and while the run waits.
    client.start("a", &[3, 4]).await.unwrap();
    until("the step runs", || async { calls.times(DOUBLE) == 1 }).await;
    own.kill();
    own.start_again().await;
    waits(&client).await;
    own.kill();

    let error = client.progress("a").await.unwrap_err();
    assert!(error.is_unreachable(), "{error}");
    assert!(
        error.to_string().starts_with("Restate cannot be reached: "),
        "{error}"
    );

    // The client repeats the delivery until the server is back.
    let delivered = tokio::spawn({
        let client = client.clone();
        async move { client.deliver("a", "go", &true).await }
    });
    own.start_again().await;
    delivered.await.unwrap().unwrap();

    assert_eq!(client.attach::<State>("a").await.unwrap(), [7, 5]);
    assert!(calls.times(DOUBLE) <= 2);
    assert!(client.start("a", &[1]).await.unwrap().already);
    own.kill();
    assert!(client.start("b", &[1]).await.unwrap_err().is_unreachable());
}
