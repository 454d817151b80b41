//! Keys and names of any kind, and more than one caller with the same.

use std::time::Duration;

use cogwork_restate::{Client, Workflow};
use futures_util::future::join_all;

use crate::support::counted::{Calls, State, flow};
use crate::support::server::server;
use crate::support::unique;
use crate::support::worker::{Worker, endpoint};

#[tokio::test]
async fn a_key_is_started_once() {
    let Some(server) = server() else { return };
    let name = unique("Counted");
    let calls = Calls::default();
    let workflow = Workflow::new(name.as_str(), flow(&calls, Duration::from_millis(50), 1));
    let worker = Worker::start(endpoint(workflow.unwrap()));
    server.register(worker.port).await;
    let client = server.client(&name);

    let states: Vec<State> = (1..=8).map(|n| vec![n]).collect();
    let started = join_all(states.iter().map(|state| client.start("a", state))).await;
    let new = started
        .iter()
        .filter(|started| !started.as_ref().unwrap().already);
    assert_eq!(new.count(), 1);

    let ids: Vec<_> = started
        .iter()
        .map(|started| &started.as_ref().unwrap().invocation_id)
        .collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");

    client.deliver("a", "go", &true).await.unwrap();
    let attached = join_all((0..4).map(|_| client.attach::<State>("a"))).await;
    let ends: Vec<_> = attached.into_iter().map(Result::unwrap).collect();
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
    assert_eq!(calls.times("a:counted/double#1"), 1);
}

#[test]
fn addresses_are_checked() {
    for address in [
        "",
        "localhost:8080",
        "ftp://localhost",
        "mailto:a@b",
        "http://",
    ] {
        assert!(Client::new(address, "A").is_err(), "{address}");
    }
    let error = Client::new("localhost\u{1b}", "A").unwrap_err();
    insta::assert_snapshot!(error, @r"`localhost\u{1b}` isn't an address of Restate; expected one such as `http://127.0.0.1:8080`");
}

#[tokio::test]
async fn a_run_that_does_not_exist_has_no_progress() {
    let Some(server) = server() else { return };
    let name = unique("Counted");
    let workflow = Workflow::new(name.as_str(), flow(&Calls::default(), Duration::ZERO, 1));
    let worker = Worker::start(endpoint(workflow.unwrap()));
    server.register(worker.port).await;
    let client = server.client(&name);

    assert_eq!(client.progress("nobody").await.unwrap(), None);
    assert!(!client.cancel("nobody").await.unwrap());
    let error = client.attach::<State>("nobody").await.unwrap_err();
    assert!(error.to_string().ends_with("(status 404)"), "{error}");

    let error = server.client("Nothing").start("a", &1).await.unwrap_err();
    assert!(error.to_string().contains("Nothing"), "{error}");
}
