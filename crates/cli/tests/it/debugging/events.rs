//! The events of runs: what the command keeps of them in the journal.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::lines;
use crate::server::{Reply, Server};
use crate::support::{Place, Told};

#[test]
fn there_is_every_request_and_reply_and_no_secret() {
    let server = Server::new(|number, _| match number {
        1 => Reply::Pieces(vec!["my ca".to_owned(), "nary-8731 is safe".to_owned()]),
        _ => Reply::text("ACTION: go"),
    });
    let config = server.config();
    let flow = format!(
        "nodes: [{{id: a, type: agent, config: {{{config}, api_key: '${{KEY}}', role: 'Keep ${{KEY}}', actions: [go, stop]}}}}]"
    );

    let place = Place::with_flow(&flow);
    let mut command = place.run_command(&["--journal", "runs", "--input", "Go?"]);
    let ran = Told::of(command.env("KEY", "canary-8731").output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.err);

    let path = place.events();
    let events = lines(&path);
    let reports = events.iter().map(|line| &line["report"]);
    let chats: Vec<_> = reports.filter(|report| report["type"] == "chat").collect();
    assert_eq!((chats.len(), server.calls()), (2, 2));
    assert_eq!(chats[0]["reply"], "my ${KEY} is safe");

    // The second request repeats the first, with the reply and the complaint behind it.
    assert_eq!(chats[1]["messages"].to_string(), "[[0,3]]");
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("canary"), "{text}");

    // Only the user can read the file.
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn texts_can_be_left_out() {
    let flow = "nodes: [{id: a, type: agent, config: {provider: scripted, replies: [Hi]}}]";
    let place = Place::with_flow(flow);
    let ran = place.run(&["--journal", "runs", "--no-content", "--input", "Go?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);

    let text = fs::read_to_string(place.events()).unwrap();
    assert!(!text.contains("Hi") && !text.contains("Go?"), "{text}");
    assert!(text.contains("\"took\""), "{text}");
}

/// Whoever follows the printed command, answers in the studio, or forks, doesn't repeat the option.
#[test]
fn a_continued_run_and_its_fork_leave_out_what_the_run_left_out() {
    let flow = "
nodes:
  - {id: a, type: agent, config: {provider: scripted, replies: [Secret plan]}}
  - {id: go, type: wait}
  - {id: b, type: agent, config: {provider: scripted, replies: [Secret end]}}
edges: [{from: a, to: go}, {from: go, to: b}]
";
    for (option, has_times) in [("--no-content", true), ("--no-events", false)] {
        let place = Place::with_flow(flow);
        let waits = place.run(&["--journal", "runs", "--id", "7", option, "--input", "x"]);
        assert_eq!(waits.code, 5, "{}", waits.err);
        let resumed = place.run(&["--journal", "runs", "--resume", "7", "--answer", "go=Yes"]);
        assert_eq!(resumed.out, "Secret end\n", "{}", resumed.err);
        let fork = "fork flow.yaml 7 --journal runs --at 3 --id 8";
        assert_eq!(place.line(fork).out, "Secret end\n");

        for run in ["runs/7.events", "runs/8.events"] {
            let text = place.read(run);
            assert!(!text.contains("Secret") && !text.contains("Yes"), "{text}");
            assert_eq!(text.contains("\"took\""), has_times, "{text}");
        }
    }
}
