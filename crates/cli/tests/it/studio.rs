//! The command `studio`, over a real process.

use std::io::{BufRead, BufReader};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Place, Running, ask};

const FLOW: &str = include_str!("../files/review.yaml");

/// A studio, which is ended when it is dropped.
struct Studio {
    _process: Running,
    host: String,
    token: String,
}

impl Studio {
    /// Starts a studio with the flow of the folder.
    fn start(place: &Place) -> Self {
        Self::of(&mut place.command(&["studio", "--journal", "runs", "--flow", "flow.yaml"]))
    }

    fn of(command: &mut Command) -> Self {
        let mut process = command.spawn().unwrap();

        let mut line = String::new();
        let output = process.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap();
        let (host, token) = address.split_once("/?token=").unwrap();
        Self {
            _process: Running(process),
            host: host.to_owned(),
            token: token.to_owned(),
        }
    }

    fn call(&self, request: &str, body: &str) -> Value {
        let (_, body) = ask(&self.host, &self.token, request, body);
        serde_json::from_str(&body).unwrap()
    }

    /// Waits until a run is as expected.
    fn until(&self, run: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let run = run.replace(' ', "+");
        for _ in 0..200 {
            let found = self.call(&format!("GET /api/run?id={run}"), "");
            if is_so(&found["run"]) {
                return found["run"].clone();
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{}", self.call(&format!("GET /api/run?id={run}"), ""))
    }

    fn until_paused(&self, started: &Value) -> Value {
        let run = started["run"].as_str().unwrap();
        self.until(run, |run| run["status"] == "paused")
    }

    fn start_run(&self) -> Value {
        let body = json!({"flow": "review", "input": "A tale"});
        self.call("POST /api/runs", &body.to_string())
    }

    fn fork(&self, body: &Value) -> Value {
        self.call("POST /api/run/forks", &body.to_string())
    }
}

#[test]
fn a_flow_is_started_answered_and_ends() {
    let place = Place::with_flow(FLOW);
    let line = ["studio", "--journal", "runs.db", "--flow", "flow.yaml"];
    let studio = Studio::of(&mut place.command(&line));
    let flows = studio.call("GET /api/flows", "");
    assert_eq!(flows, json!({"flows": ["review"]}));

    let started = studio.start_run();
    let paused = studio.until_paused(&started);
    let wait = &paused["waits"][0];
    assert_eq!(wait["why"], "Publish this? A draft.", "{paused}");

    let run = &started["run"];
    let body = json!({"id": run, "step": wait["step"], "event": wait["event"], "answer": {"action": "yes"}});
    let delivered = studio.call("POST /api/run/answers", &body.to_string());
    assert_eq!(delivered["resumed"], true, "{delivered}");
    studio.until(run.as_str().unwrap(), |run| run["status"] == "ended");

    // A fork at the wait has the draft, and asks again.
    let forked = studio.until_paused(&studio.fork(&json!({"id": run, "at": 2})));
    assert_eq!(forked["waits"][0]["why"], "Publish this? A draft.");
    assert_eq!(forked["forked_from"], json!({"run": run, "step": 2}));
}

#[test]
fn a_run_that_was_started_without_texts_gets_none_after_an_answer() {
    let place = Place::with_flow(FLOW);
    let start = "run flow.yaml -i x --journal runs --id 7 --no-content";
    assert_eq!(place.line(start).code, 5);

    let studio = Studio::start(&place);
    let answer = json!({"id": "7", "step": "review/review#2", "event": "review", "answer": "no"});
    studio.call("POST /api/run/answers", &answer.to_string());
    studio.until("7", |run| run["waits"][0]["step"] == "review/review#4");

    let events = place.read("runs/7.events");
    assert_eq!(events.matches("left_out").count(), 2, "{events}");
    assert!(!events.contains("A draft."), "{events}");
}

#[test]
fn a_fork_uses_the_file_as_it_is_then() {
    let place = Place::with_flow(FLOW);
    let studio = Studio::start(&place);
    let started = studio.start_run();
    studio.until_paused(&started);
    let fork = |at: u64| studio.fork(&json!({"id": started["run"], "at": at}));

    // An edited prompt or, here, setting.
    place.write("flow.yaml", &FLOW.replace("A draft.", "A new draft."));
    let paused = studio.until_paused(&fork(1));
    assert_eq!(paused["waits"][0]["why"], "Publish this? A new draft.");
    let refused = fork(99);
    assert!(refused["error"].is_string(), "{refused}");

    place.write("flow.yaml", "name: review\nnodes: 5");
    let refused = fork(1);
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("flow.yaml:2:8"), "{refused}");
}

#[test]
fn two_flows_with_one_name_are_refused() {
    let place = Place::with_flow(FLOW);
    let told = place.line("studio --journal runs --flow flow.yaml --flow flow.yaml");
    told.fails(4, "expected different names");
}
