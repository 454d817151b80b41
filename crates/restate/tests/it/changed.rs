//! Flows that change while runs are in progress.

use std::time::Duration;

use cogwork_flow::{Action, Flow, Wait, from_fn};
use cogwork_restate::{Client, Workflow};

use crate::support::counted::{Calls, State, flow};
use crate::support::server::server;
use crate::support::worker::{Worker, endpoint};
use crate::support::{unique, until};

/// The same wait, and different nodes after it.
fn changed() -> Flow<State> {
    Flow::builder("counted")
        .start("wait")
        .wait("wait", Wait::for_event("go", |_: &mut State, _: bool| ()))
        .node("clear", from_fn(State::clear))
        .edge("wait", Action::DEFAULT, "clear")
        .end("clear", Action::DEFAULT)
        .build()
        .unwrap()
}

async fn waits(client: &Client) {
    until("the run waits", || async {
        let progress = client.progress("a").await.unwrap();
        progress.is_some_and(|progress| progress.waits_for.is_some())
    })
    .await;
}

#[tokio::test]
async fn old_runs_stay_with_their_flow_when_a_changed_one_is_served_at_a_new_address() {
    let Some(server) = server() else { return };
    let name = unique("Changes");
    let old_calls = Calls::default();
    let old = flow(&old_calls, Duration::ZERO, 1);
    let client = server.client(&name);

    let old = Worker::start(endpoint(Workflow::new(name.as_str(), old).unwrap()));
    server.register(old.port).await;
    client.start("a", &[3, 4]).await.unwrap();
    waits(&client).await;

    let new = Worker::start(endpoint(Workflow::new(name.as_str(), changed()).unwrap()));
    server.register(new.port).await;
    client.start("b", &[3, 4]).await.unwrap();
    client.deliver("b", "go", &true).await.unwrap();
    client.deliver("a", "go", &true).await.unwrap();

    // The batch of the old run goes to a worker with the old flow.
    assert_eq!(client.attach::<State>("a").await.unwrap(), [7, 5]);
    assert_eq!(client.attach::<State>("b").await.unwrap(), State::new());
    assert_eq!(old_calls.made().len(), 3);
}
