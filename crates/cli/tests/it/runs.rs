//! The command `runs`.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::server::{Reply, Server};
use crate::support::{Place, Told};

const FLOW: &str = "name: add\nnodes: [{id: one, type: wait, config: {event: go}}]";

/// Replaces times, such as `2026-11-23T00:29:37.123Z`.
fn without_times(text: &str) -> String {
    let is_time = |word: &&str| word.len() >= 24 && word.starts_with("20") && word.contains('T');
    let times: Vec<_> = text.split([' ', '\n']).filter(is_time).collect();
    let replaced = times.iter().map(|time| time.split_at(24).0);
    replaced.fold(text.to_owned(), |text, time| text.replace(time, "TIME"))
}

#[test]
fn runs_and_what_is_recorded_of_one_are_listed_with_their_times() {
    let place = Place::with_flow(FLOW);
    let ended = "ended\u{1b}[2J";
    for (id, more) in [("begun", ""), (ended, " --answer go=Yes.")] {
        place.line(&format!(
            "run flow.yaml -q -i x --journal runs --id {id}{more}"
        ));
    }

    let runs = ["runs", "--journal", "runs"];
    let told = place.cogwork(&runs);
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    insta::assert_snapshot!(without_times(&told.out), @r"
    begun: `add`, started TIME, updated TIME: waits for `go`
    ended\u{1b}[2J: `add`, started TIME, updated TIME: ended on `default` after 1 step
    ");

    let told = place.cogwork(&[&runs[..], &[ended]].concat());
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    insta::assert_snapshot!(without_times(&told.out), @"
    TIME  an answer to `go` arrived
    TIME  the run began
    TIME  add/one#1: waits for `go`
    TIME  add/one#1: used the answer to `go`
    TIME  ended on `default` after 1 step
    ");
}

#[test]
fn a_place_or_a_run_that_is_not_there_is_told() {
    let place = Place::new();
    let empty = place.line("runs --journal runs");
    empty.fails(0, "cogwork: there are no runs at the place of --journal");
    let problem = "there is no run `7`";
    place.line("runs --journal runs 7").fails(4, problem);
}

#[test]
fn an_open_run_is_running_or_was_interrupted() {
    let server = Server::new(|_, _| Reply::Silence);
    let agent = format!(
        "nodes: [{{id: a, type: agent, config: {{{}}}}}]",
        server.config()
    );
    let place = Place::with_flow(&agent);
    let run = ["run", "flow.yaml", "-i", "x", "--journal", "runs"];
    let mut run = place.command(&run).spawn().unwrap();
    while server.calls() < 1 {
        sleep(Duration::from_millis(5));
    }
    let listed = place.line("runs --journal runs").out;
    assert!(listed.ends_with(": open, running\n"), "{listed}");

    run.kill().unwrap();
    run.wait().unwrap();
    let listed = place.line("runs --journal runs").out;
    assert!(listed.ends_with(": open, not running\n"), "{listed}");
}

/// The shell limits the size of files, since no test can fill a disk.
#[cfg(unix)]
#[test]
fn a_journal_that_cannot_be_written_is_not_a_run_that_failed() {
    let long = "long ".repeat(10_000);
    let agent = format!("{{provider: scripted, replies: ['{long}']}}");
    let place = Place::with_flow(&format!("nodes: [{{id: a, type: agent, config: {agent}}}]"));
    let limited = "trap '' XFSZ; ulimit -f 20; exec \"$0\" run flow.yaml -i x --journal runs";
    let mut shell = Command::new("sh");
    shell.args(["-c", limited, env!("CARGO_BIN_EXE_cogwork")]);
    let failed = shell.current_dir(place.folder()).output().unwrap();
    Told::of(failed).fails(4, "");
}
