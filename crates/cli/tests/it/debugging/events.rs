//! The events of runs: what the command keeps of them in the journal.

use std::fs;

use serde_json::Value;

use super::lines;
use crate::server::{Reply, Server};
use crate::support::{Place, Told};

/// The types of the events, and of what they report.
fn types(lines: &[Value]) -> Vec<&str> {
    let events = lines.iter().map(|line| {
        let reported = line.pointer("/report/type").or_else(|| line.get("type"));
        reported.and_then(Value::as_str).unwrap_or_default()
    });
    events.filter(|event| *event != "phase_finished").collect()
}

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
    assert_eq!(
        types(&events),
        [
            "opened",
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
            "output",
            "ended",
            "answered"
        ]
    );
    let chats: Vec<_> = events
        .iter()
        .map(|line| &line["report"])
        .filter(|report| report["type"] == "chat")
        .collect();
    assert_eq!(chats[0]["reply"], "my ${KEY} is safe");

    // The second request repeats the first, with the reply and the complaint behind it.
    assert_eq!(chats[1]["messages"].to_string(), "[[0,3]]");
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("canary"), "{text}");

    // Only the user can read the file.
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&path).unwrap());
    assert_eq!(mode & 0o777, 0o600);
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

#[test]
fn a_long_text_is_cut() {
    let long = "x".repeat(300_000);
    let reply = long.clone();
    let server = Server::new(move |_, _| Reply::text(&reply));
    let config = server.config();
    let place = Place::with_flow(&format!(
        "nodes: [{{id: a, type: agent, config: {{{config}}}}}]"
    ));

    let ran = place.run(&["-q", "--journal", "runs", "--input", "Go?"]);
    let printed = (ran.code, ran.out.len());
    assert_eq!(printed, (0, long.len() + 1), "{}", ran.err);
    let text = fs::read_to_string(place.events()).unwrap();
    assert!(
        text.contains("… (cut: 300000 bytes)"),
        "{} bytes",
        text.len()
    );
}
