//! Runs that are continued with their journal.

use std::sync::mpsc;

use super::{json, two_nodes};
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
    assert_eq!((resumed.code, resumed.out.as_str()), (0, "Two.\n"));
    assert_eq!(server.calls(), 3, "the first call is not repeated");

    // A run that has ended makes no calls at all.
    let again = place.run(&["--journal", "runs", "--resume", id, "--json", "--quiet"]);
    let result = json(&again.out);
    assert_eq!(result["answer"], "Two.");
    assert_eq!((server.calls(), again.err.as_str()), (3, ""));
}

#[test]
fn a_run_that_cannot_be_resumed_is_refused() {
    let place = Place::with_flow("nodes: [{id: a, type: wait}]");
    let missing = place.run(&["--journal", "runs", "--resume", "7"]);
    assert_eq!(missing.code, 4);
    assert!(missing.err.contains('7'), "{}", missing.err);

    for arguments in [
        &["--resume", "7"][..],
        &["--journal", "runs"],
        &["--journal", "runs", "--resume", "7", "--input", "x"],
        &["--input", "x", "--answer", "no value"],
        &["--input", "x", "--quiet", "--stream"],
    ] {
        assert_eq!(place.run(arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn a_run_that_fails_is_told_with_the_last_reply_and_how_to_resume_it() {
    let flow = "nodes: [{id: a, type: agent, config: {provider: scripted, replies: [Hm., 'As I said.'], actions: [go], asks_again: 1}}]";
    let place = Place::with_flow(flow);
    let failed = place.run(&["-q", "--journal", "runs", "--input", "Walk?", "--json"]);
    assert_eq!(failed.code, 3);

    let last = "\nthe reply:\nAs I said.\ncogwork: to resume the run: ";
    assert!(failed.err.contains(last), "{}", failed.err);
    let result = json(&failed.out);
    assert_eq!(result["costs"]["calls"], 2);
    assert_eq!(result["failed"]["tries"][0]["reply"], "Hm.");
}

#[test]
fn a_changed_flow_is_continued_by_a_fork() {
    let node =
        |id: &str| format!("nodes: [{{id: {id}, type: wait, config: {{event: go, reason: Go?}}}}]");
    let place = Place::with_flow(&node("a"));
    let waits = place.run(&["--journal", "runs", "--input", "x"]);
    assert_eq!(waits.code, 5, "{}", waits.err);
    std::fs::write(place.path("flow.yaml"), node("b")).unwrap();

    let resume = ["--journal", "runs", "--resume", run_id(&waits.err)];
    let refused = place.run(&resume);
    assert_eq!(refused.code, 4);
    let hint = "use `--changed-flow` of `cogwork fork`, and `--at end` to keep all steps";
    assert!(refused.err.contains(hint), "{}", refused.err);
}

#[test]
fn a_run_at_its_limit_of_steps_is_resumed_with_a_higher_one() {
    let template = "type: template, config: {text: Hm.}";
    let flow = format!(
        "nodes: [{{id: a, {template}}}, {{id: b, {template}}}]\nedges: [{{from: a, to: b}}]"
    );
    let place = Place::with_flow(&flow);
    let start = ["-q", "--journal", "runs", "--id", "7", "--input", "x"];
    let stopped = place.run(&[&start[..], &["--max-steps", "1"]].concat());
    let hint = "cogwork: to resume the run: cogwork run flow.yaml --journal runs --resume 7 --max-steps 10\n";
    assert_eq!(stopped.code, 3);
    assert!(stopped.err.ends_with(hint), "{}", stopped.err);

    let resume = ["-q", "--journal", "runs", "--resume", "7"];
    assert_eq!(place.run(&resume).out, "Hm.\n");
}
