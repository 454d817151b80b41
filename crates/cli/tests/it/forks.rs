//! The command `fork`.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Two nodes, the second of which quotes the first.
fn file(second: &str) -> String {
    format!(
        "name: pair
answer: '{{critic}}'
nodes:
  - id: writer
    type: agent
    config: {{provider: scripted, replies: [Roses are red.], role: You write., prompt: '{{input}}'}}
  - id: critic
    type: agent
    config: {{provider: scripted, replies: ['{second}'], role: You judge., prompt: '{{writer}}'}}
edges:
  - {{from: writer, to: critic}}
  - {{from: critic, to: end}}
"
    )
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn cogwork(folder: &Path, arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_cogwork"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();

    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Records a run. Returns its id.
fn record(folder: &Path) -> String {
    std::fs::write(folder.join("pair.yaml"), file("Good.")).unwrap();
    let arguments = ["run", "pair.yaml", "--input", "roses", "--journal", "runs"];
    let ran = cogwork(folder, &arguments);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Good.\n"), "{}", ran.err);

    let listed = cogwork(folder, &["runs", "--journal", "runs"]).out;
    listed.split(':').next().unwrap().to_owned()
}

fn fork(folder: &Path, run: &str, more: &[&str]) -> Ran {
    let begin = ["fork", "pair.yaml", run, "--journal", "runs"];
    cogwork(folder, &[&begin, more].concat())
}

#[test]
fn a_fork_executes_the_rest_with_the_edited_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);
    std::fs::write(folder.join("pair.yaml"), file("Bad.")).unwrap();

    for at in ["2", "critic:1"] {
        let ran = fork(folder, &run, &["--at", at]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Bad.\n"), "{}", ran.err);
        assert!(ran.err.contains("to resume it: cogwork run pair.yaml"));
    }

    let ran = fork(folder, &run, &["--at", "end", "--quiet"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Good.\n"), "{}", ran.err);
    assert_eq!(ran.err, "");

    let listed = cogwork(folder, &["runs", "--journal", "runs"]).out;
    let origin = format!("{run} fork 2: `pair`, forked from `{run}` at step 2, started");
    assert!(listed.contains(&origin), "{listed}");
}

#[test]
fn the_new_run_has_the_requested_id_and_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);
    let ran = fork(folder, &run, &["--at", "2", "--id", "again"]);
    assert_eq!(ran.code, 0, "{}", ran.err);

    let arguments = ["run", "pair.yaml", "--journal", "runs", "--resume", "again"];
    let ran = cogwork(folder, &arguments);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Good.\n"), "{}", ran.err);

    let ran = fork(folder, &run, &["--at", "2", "--id", "again"]);
    assert_eq!(ran.code, 4);
    assert!(
        ran.err.contains("the run `again` already exists"),
        "{}",
        ran.err
    );
}

#[test]
fn the_events_of_a_fork_name_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);
    let ran = fork(folder, &run, &["--at", "2", "--id", "again"]);
    assert_eq!(ran.code, 0, "{}", ran.err);

    let events = std::fs::read_to_string(folder.join("runs/again.events")).unwrap();
    let origin = format!(r#""forked_from":{{"run_id":"{run}","step":2}}"#);
    assert!(events.lines().next().unwrap().contains(&origin), "{events}");
}

#[test]
fn an_impossible_fork_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);

    let cases = [
        (run.as_str(), "9", "expected a step from 1 to 3"),
        (&run, "writer:2", "visit 2 to the node `writer`"),
        ("no run", "1", "there is no run `no run`"),
    ];
    for (run, at, problem) in cases {
        let ran = fork(folder, run, &["--at", at]);
        assert_eq!((ran.code, ran.out.as_str()), (4, ""));
        assert!(ran.err.contains(problem), "{}", ran.err);
    }

    let ran = fork(folder, &run, &["--at", "soon"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("such as `think:3`"), "{}", ran.err);
}

#[test]
fn a_changed_flow_is_accepted_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);
    let changed = file("Bad.").replace("critic", "judge");
    std::fs::write(folder.join("pair.yaml"), changed).unwrap();

    let ran = fork(folder, &run, &["--at", "2"]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.contains("has changed since"), "{}", ran.err);

    let ran = fork(folder, &run, &["--at", "2", "--changed-flow"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Bad.\n"), "{}", ran.err);
}

#[test]
fn the_recorded_outcomes_and_the_state_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);

    let ran = fork(folder, &run, &["--at", "critic:1", "--show"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let shown: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(shown["step"], 2);
    assert_eq!(shown["state"]["last"], "writer");
    let outcomes = shown["outcomes"].as_object().unwrap();
    assert_eq!(
        outcomes.len(),
        2,
        "the outcome of the node, and that of its call"
    );
    assert!(outcomes.contains_key("pair/critic#2"), "{outcomes:?}");

    let listed = cogwork(folder, &["runs", "--journal", "runs"]).out;
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn a_fork_begins_with_an_edited_state() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);
    let answer = "answer: '{critic}'";
    let text = file("Good.").replace(answer, "answer: '{writer} {critic}'");
    std::fs::write(folder.join("pair.yaml"), text).unwrap();

    let shown = fork(folder, &run, &["--at", "2", "--show"]).out;
    assert!(shown.contains("Roses are red."), "{shown}");
    let edited = shown.replace("Roses are red.", "Violets are blue.");
    let shown: Value = serde_json::from_str(&edited).unwrap();
    let state = shown["state"].to_string();
    std::fs::write(folder.join("state.json"), &state).unwrap();

    for given in [state.as_str(), "state.json"] {
        let ran = fork(folder, &run, &["--at", "2", "--state", given]);
        let out = "Violets are blue. Good.\n";
        assert_eq!((ran.code, ran.out.as_str()), (0, out), "{}", ran.err);
    }

    let listed = cogwork(folder, &["runs", "--journal", "runs"]).out;
    assert!(listed.contains("with an edited state"), "{listed}");
}

#[test]
fn a_fork_begins_with_an_edited_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);
    let shown = fork(folder, &run, &["--at", "2", "--show"]).out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let outcome = shown["outcomes"]["pair/critic#2"].to_string();
    let outcome = outcome.replace("Good.", "Better.");

    let of_part = format!("pair/critic#2={outcome}");
    // A text replaces that of the answer.
    let edits = [
        ["--outcome", &outcome],
        ["--outcome-of", &of_part],
        ["--outcome", "Better."],
    ];
    for edit in edits {
        let more = [&["--at", "2"], edit.as_slice()].concat();
        let ran = fork(folder, &run, &more);
        let ended = (0, "Better.\n");
        assert_eq!((ran.code, ran.out.as_str()), ended, "{}", ran.err);
    }
}

#[test]
fn an_edit_that_the_flow_cannot_use_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);
    std::fs::write(folder.join("list.json"), "[\n1").unwrap();

    let misspelt = r#"{"input": {"text": "roses"}, "output": {}}"#;
    let cases: [(&[&str], &str); 8] = [
        (
            &["--at", "2", "--state", misspelt],
            "--state: this isn't a state of a flow: unknown field `output`, expected one of",
        ),
        (
            &["--at", "2", "--state", "{}"],
            "--state: this isn't a state of a flow: missing field",
        ),
        (
            &["--at", "2", "--state", "list.json"],
            "list.json: this isn't a state of a flow",
        ),
        (
            &["--at", "2", "--state", "none.json"],
            "none.json: No such file",
        ),
        (&["--at", "2", "--outcome", "5"], "node `critic`"),
        (
            &["--at", "2", "--outcome-of", "critic=5"],
            "step 2 has no outcome of `critic`; expected `pair/critic#2`",
        ),
        (
            &["--at", "end", "--outcome", "5"],
            "with `--at` and a step, not with `--at end`",
        ),
        (
            &["--at", "2", "--model", "large"],
            "no node of the flow has a model",
        ),
    ];
    for (more, problem) in cases {
        let ran = fork(folder, &run, more);
        assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{more:?}");
        assert!(ran.err.contains(problem), "{more:?}: {}", ran.err);
    }

    let ran = fork(folder, &run, &["--at", "2", "--outcome-of", "5"]);
    assert_eq!(ran.code, 2);
    let listed = cogwork(folder, &["runs", "--journal", "runs"]).out;
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn a_flow_that_changed_before_the_step_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = record(folder);
    let changed = file("Bad.").replace("writer", "poet");
    std::fs::write(folder.join("pair.yaml"), changed).unwrap();

    let ran = fork(folder, &run, &["--at", "2"]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.contains("use `--changed-flow`"), "{}", ran.err);

    let ran = fork(folder, &run, &["--at", "2", "--changed-flow"]);
    assert_eq!(ran.code, 4);
    let problem = "the run visits `pair/poet#1`, but the recorded one visited `pair/writer#1`";
    assert!(ran.err.contains(problem), "{}", ran.err);

    let ran = fork(folder, &run, &["--at", "1", "--changed-flow"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Bad.\n"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_fork_asks_a_different_model_for_the_rest_only() {
    use crate::server::{Reply, Server};

    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = Server::new(|_, request| {
        let is_large = request.contains(r#""model":"large""#);
        Reply::text(if is_large { "large" } else { "small" })
    });
    let config = server.config();
    let file = format!(
        "name: pair
answer: '{{writer}} {{critic}}'
nodes:
  - {{id: writer, type: agent, config: {{{config}, role: You write., prompt: '{{input}}'}}}}
  - {{id: critic, type: agent, config: {{{config}, role: You judge., prompt: '{{writer}}'}}}}
edges: [{{from: writer, to: critic}}, {{from: critic, to: end}}]
"
    );
    std::fs::write(folder.join("pair.yaml"), file).unwrap();
    let arguments = ["run", "pair.yaml", "--input", "roses", "--journal", "runs"];
    let ran = cogwork(folder, &arguments);
    assert_eq!(ran.out, "small small\n", "{}", ran.err);
    assert_eq!(server.calls(), 2);

    let listed = cogwork(folder, &["runs", "--journal", "runs"]).out;
    let run = listed.split(':').next().unwrap();
    let ran = fork(folder, run, &["--at", "critic:1", "--model", "large"]);
    assert_eq!(ran.out, "small large\n", "{}", ran.err);
    assert_eq!(server.calls(), 3);
}
