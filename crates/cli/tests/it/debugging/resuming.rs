//! Runs that are continued with their journal.

use std::sync::mpsc;

use super::two_nodes;
use crate::server::{Reply, Server};
use crate::support::{Place, Told, run_id};

#[test]
fn a_killed_run_is_resumed_without_repeating_a_call() {
    let (arrived, second_call) = mpsc::channel();
    let arrived = std::sync::Mutex::new(arrived);
    let server = Server::new(move |number, _| match number {
        1 => Reply::text("One."),
        2 => {
            arrived.lock().unwrap().send(()).unwrap();
            Reply::Silence
        }
        _ => Reply::text("Two."),
    });

    let place = two_nodes(&server);
    let mut killed = place
        .run_command(&["--journal", "runs", "--input", "Count."])
        .spawn()
        .unwrap();
    second_call.recv().unwrap();
    killed.kill().unwrap();
    let killed = Told::of(killed.wait_with_output().unwrap());
    assert_eq!(killed.code, -1, "killed by a signal");

    let id = run_id(&killed.err);
    let command = format!("cogwork run flow.yaml --journal runs --resume {id}\n");
    assert!(killed.err.contains(&command), "{}", killed.err);

    let resumed = place.run(&["--journal", "runs", "--resume", id]);
    resumed.answers("Two.\n");
    assert_eq!(server.calls(), 3, "the first call is not repeated");

    // A run that has ended makes no calls at all.
    let again = place.run(&["--journal", "runs", "--resume", id, "--json", "--quiet"]);
    assert_eq!(again.json()["answer"], "Two.");
    assert_eq!((server.calls(), again.err.as_str()), (3, ""));
}

#[test]
fn a_run_that_cannot_be_resumed_is_refused() {
    let place = Place::with_flow("nodes: [{id: a, type: wait}]");
    place.resume(&[]).fails(4, "7");
    for arguments in [
        "--resume 7",
        "--journal runs",
        "--journal runs --resume 7 --input x",
        "--input x --answer none",
        "--input x --quiet --stream",
    ] {
        place
            .line(&format!("run flow.yaml {arguments}"))
            .fails(2, "");
    }
}

#[test]
fn a_run_that_fails_is_told_with_the_last_reply_and_how_to_resume_it() {
    let flow = "nodes: [{id: a, type: agent, config: {provider: scripted, replies: [Hm., 'As I said.'], actions: [go], asks_again: 1}}]";
    let failed = Place::with_flow(flow).start(&["--json"]);
    failed.fails(3, "\nthe reply:\nAs I said.\ncogwork: to resume the run: ");
    let result = failed.json();
    assert_eq!(result["failed"]["tries"][0]["reply"], "Hm.");
}
