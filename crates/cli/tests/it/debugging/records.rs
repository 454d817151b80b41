//! The record of the events of a run.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Place, lines, told};
use crate::server::{Reply, Server};

/// The types of the events in a record, and of what they report.
fn events(lines: &[Value]) -> Vec<&str> {
    let events = lines.iter().skip(1).map(|line| {
        let reported = line.pointer("/report/type").or_else(|| line.get("type"));
        reported.and_then(Value::as_str).unwrap_or_default()
    });
    events.filter(|event| *event != "phase_finished").collect()
}

#[test]
fn a_record_has_every_request_and_reply_and_no_secrets() {
    let server = Server::new(|number, _| match number {
        1 => Reply::Pieces(vec!["my ca".to_owned(), "nary-8731 is safe".to_owned()]),
        _ => Reply::text("ACTION: go"),
    });
    let config = server.config();
    let flow = format!(
        "nodes: [{{id: a, type: agent, config: {{{config}, api_key: '${{KEY}}', role: 'Keep ${{KEY}}', actions: [go, stop]}}}}]"
    );

    let place = Place::new(&flow);
    let run = |arguments: &[&str]| {
        let mut command = place.command(&[arguments, &["--input", "Go?"]].concat());
        told(command.env("KEY", "canary-8731").output().unwrap())
    };
    let first = run(&["--record", "run.trace"]);
    assert_eq!(first.code, 0, "{}", first.err);

    let path = place.path("run.trace");
    let recorded = lines(&path);
    assert_eq!(
        events(&recorded),
        [
            "run_started",
            "step_entered",
            "message",
            "message",
            "chat",
            "judged",
            "message",
            "message",
            "chat",
            "judged",
            "ended"
        ]
    );
    let chats: Vec<_> = recorded
        .iter()
        .map(|line| &line["report"])
        .filter(|report| report["type"] == "chat")
        .collect();
    assert_eq!(chats[0]["reply"], "my ${KEY} is safe");

    // The second request repeats the first, with the reply and the complaint behind it.
    assert_eq!(chats[1]["messages"].to_string(), "[[0,3]]");
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("canary"), "{text}");

    // Another run isn't added, and only the user can read the file.
    let second = run(&["--record", "run.trace"]);
    assert_eq!(second.code, 4);
    assert!(
        second.err.contains("is the record of the run"),
        "{}",
        second.err
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&path).unwrap());
    assert_eq!(mode & 0o777, 0o600);

    let third = run(&["--record", "other.trace", "--no-content"]);
    assert_eq!(third.code, 0, "{}", third.err);
    let text = fs::read_to_string(place.path("other.trace")).unwrap();
    assert!(!text.contains("ACTION") && !text.contains("Go?"), "{text}");
}

#[test]
fn a_run_with_a_journal_is_recorded_next_to_it() {
    let flow = "nodes: [{id: a, type: agent, config: {provider: scripted, replies: [Hi, Hi, Hi]}}]";
    let place = Place::new(flow);

    let ran = place.run(&["--journal", "runs", "--input", "Go?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let runs = place.path("runs");
    let names = || {
        let names = fs::read_dir(&runs).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| name.ends_with(".trace"))
            .collect::<Vec<_>>()
    };
    let recorded = names();
    assert_eq!(recorded.len(), 1, "{recorded:?}");
    let header = &lines(&runs.join(&recorded[0]))[0];
    assert_eq!(header["cogwork_record"], 1);
    assert_eq!(
        format!("{}.trace", header["run"].as_str().unwrap()),
        recorded[0]
    );

    // It isn't listed as a run of its own.
    let listed = std::process::Command::new(env!("CARGO_BIN_EXE_cogwork"))
        .args(["runs", "--journal"])
        .arg(&runs)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(listed.stdout)
            .unwrap()
            .matches("ended")
            .count(),
        1
    );

    let without = ["--journal", "runs", "--no-record", "--input", "Go?"];
    assert_eq!(place.run(&without).code, 0);
    assert_eq!(names(), recorded);
}

#[test]
fn a_record_is_bounded() {
    let long = "x".repeat(300_000);
    let reply = long.clone();
    let server = Server::new(move |_, _| Reply::text(&reply));
    let config = server.config();
    let place = Place::new(&format!(
        "nodes: [{{id: a, type: agent, config: {{{config}}}}}]"
    ));

    let ran = place.run(&["-q", "--record", "run.trace", "--input", "Go?"]);
    assert_eq!(
        (ran.code, ran.out.len()),
        (0, long.len() + 1),
        "{}",
        ran.err
    );
    let size = fs::metadata(place.path("run.trace")).unwrap().len();
    assert!(size < 100_000, "{size} bytes");

    let nowhere = place.run(&["-q", "--record", "no/folder", "--input", "Go?"]);
    assert_eq!((nowhere.code, server.calls()), (4, 1));
    assert!(
        nowhere
            .err
            .contains("the record could not be opened: no/folder"),
        "{}",
        nowhere.err
    );

    if Path::new("/dev/full").exists() {
        let full = place.run(&["-q", "--record", "/dev/full", "--input", "Go?"]);
        assert_eq!(full.code, 4);
        assert!(
            full.err
                .contains("the record could not be opened: /dev/full"),
            "{}",
            full.err
        );
    }
}
