//! The command `fork`.

use serde_json::Value;

use crate::support::{Place, Told};

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

/// A folder with a recorded run.
struct Recorded {
    place: Place,
    run: String,
}

fn record(flow: &str) -> Recorded {
    let place = Place::new();
    place.write("pair.yaml", flow);
    let run = ["run", "pair.yaml", "--input", "roses", "--journal", "runs"];
    let told = place.cogwork(&run);
    assert_eq!(told.code, 0, "{}", told.err);

    let mut recorded = Recorded {
        place,
        run: String::new(),
    };
    recorded.run = recorded.list().split(':').next().unwrap().to_owned();
    recorded
}

impl Recorded {
    fn list(&self) -> String {
        self.place.cogwork(&["runs", "--journal", "runs"]).out
    }

    fn fork(&self, more: &[&str]) -> Told {
        self.fork_of(&self.run, more)
    }

    fn fork_of(&self, run: &str, more: &[&str]) -> Told {
        let begin = ["fork", "pair.yaml", run, "--journal", "runs"];
        self.place.cogwork(&[&begin, more].concat())
    }

    #[track_caller]
    fn forks(&self, more: &[&str], answer: &str) -> Told {
        let told = self.fork(more);
        assert_eq!((told.code, told.out.as_str()), (0, answer), "{}", told.err);
        told
    }

    #[track_caller]
    fn refuses(&self, more: &[&str], problem: &str) {
        let told = self.fork(more);
        assert_eq!((told.code, told.out.as_str()), (4, ""), "{more:?}");
        assert!(told.err.contains(problem), "{more:?}: {}", told.err);
    }
}

#[test]
fn a_fork_executes_the_rest_with_the_edited_file() {
    let recorded = record(&file("Good."));
    recorded.place.write("pair.yaml", &file("Bad."));

    for at in ["2", "critic:1"] {
        let told = recorded.forks(&["--at", at], "Bad.\n");
        assert!(told.err.contains("to resume it: cogwork run pair.yaml"));
    }
    let told = recorded.forks(&["--at", "end", "--quiet"], "Good.\n");
    assert_eq!(told.err, "");

    let run = &recorded.run;
    let origin = format!("{run} fork 2: `pair`, forked from `{run}` at step 2, started");
    let listed = recorded.list();
    assert!(listed.contains(&origin), "{listed}");
}

#[test]
fn the_new_run_has_the_requested_id_and_can_be_resumed() {
    let recorded = record(&file("Good."));
    let again = ["--at", "2", "--id", "again"];
    recorded.forks(&again, "Good.\n");

    let arguments = ["run", "pair.yaml", "--journal", "runs", "--resume", "again"];
    let told = recorded.place.cogwork(&arguments);
    assert_eq!(
        (told.code, told.out.as_str()),
        (0, "Good.\n"),
        "{}",
        told.err
    );

    let events = recorded.place.read("runs/again.events");
    let origin = format!(r#""forked_from":{{"run_id":"{}","step":2}}"#, recorded.run);
    assert!(events.lines().next().unwrap().contains(&origin), "{events}");
    recorded.refuses(&again, "the run `again` already exists");
}

#[test]
fn a_changed_flow_is_accepted_on_request() {
    let recorded = record(&file("Good."));
    let changed = file("Bad.").replace("critic", "judge");
    recorded.place.write("pair.yaml", &changed);
    recorded.refuses(&["--at", "2"], "use `--changed-flow`");
    recorded.forks(&["--at", "2", "--changed-flow"], "Bad.\n");

    // A change before the step.
    let changed = file("Bad.").replace("writer", "poet");
    recorded.place.write("pair.yaml", &changed);
    let problem = "the run visits `pair/poet#1`, but the recorded one visited `pair/writer#1`";
    recorded.refuses(&["--at", "2", "--changed-flow"], problem);
    recorded.forks(&["--at", "1", "--changed-flow"], "Bad.\n");
}

#[test]
fn the_recorded_outcomes_and_the_state_are_shown() {
    let recorded = record(&file("Good."));
    let told = recorded.fork(&["--at", "critic:1", "--show"]);
    assert_eq!((told.code, told.err.as_str()), (0, ""));

    let shown: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(shown["step"], 2);
    assert_eq!(shown["state"]["last"], "writer");
    let outcomes = shown["outcomes"].as_object().unwrap();
    assert!(outcomes.contains_key("pair/critic#2"), "{outcomes:?}");
    assert_eq!(outcomes.len(), 2, "that of the node, and that of its call");
    assert_eq!(recorded.list().lines().count(), 1);
}

#[test]
fn a_fork_begins_with_an_edited_state() {
    let recorded = record(&file("Good."));
    let text = file("Good.").replace("answer: '{critic}'", "answer: '{writer} {critic}'");
    recorded.place.write("pair.yaml", &text);

    let shown = recorded.fork(&["--at", "2", "--show"]).out;
    let edited = shown.replace("Roses are red.", "Violets are blue.");
    let shown: Value = serde_json::from_str(&edited).unwrap();
    let state = shown["state"].to_string();
    recorded.place.write("state.json", &state);

    for given in [state.as_str(), "state.json"] {
        let out = "Violets are blue. Good.\n";
        recorded.forks(&["--at", "2", "--state", given], out);
    }
    let listed = recorded.list();
    assert!(listed.contains("with an edited state"), "{listed}");
}

#[test]
fn a_fork_begins_with_an_edited_outcome() {
    let recorded = record(&file("Good."));
    let shown = recorded.fork(&["--at", "2", "--show"]).out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let outcome = shown["outcomes"]["pair/critic#2"].to_string();
    let outcome = outcome.replace("Good.", "Better.");
    let of_part = format!("pair/critic#2={outcome}");

    // A text replaces that of the answer.
    for edit in [
        ["--outcome", &outcome],
        ["--outcome-of", &of_part],
        ["--outcome", "Better."],
    ] {
        recorded.forks(&[&["--at", "2"], &edit[..]].concat(), "Better.\n");
    }
}

#[test]
fn an_edit_or_a_step_that_the_flow_cannot_use_starts_nothing() {
    let recorded = record(&file("Good."));
    recorded.place.write("list.json", "[\n1");

    let misspelt = r#"{"input": {"text": "roses"}, "output": {}}"#;
    let cases: [(&[&str], &str); 10] = [
        (&["--at", "9"], "expected a step from 1 to 3"),
        (&["--at", "writer:2"], "visit 2 to the node `writer`"),
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
        recorded.refuses(more, problem);
    }
    let told = recorded.fork_of("no run", &["--at", "1"]);
    assert!(told.err.contains("there is no run `no run`"), "{told:?}");

    for wrong in [&["--at", "2", "--outcome-of", "5"][..], &["--at", "soon"]] {
        assert_eq!(recorded.fork(wrong).code, 2);
    }
    assert_eq!(recorded.list().lines().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_fork_asks_a_different_model_for_the_rest_only() {
    use crate::server::{Reply, Server};

    let server = Server::new(|_, request| {
        let is_large = request.contains(r#""model":"large""#);
        Reply::text(if is_large { "large" } else { "small" })
    });
    let config = server.config();
    let recorded = record(&format!(
        "name: pair
answer: '{{writer}} {{critic}}'
nodes:
  - {{id: writer, type: agent, config: {{{config}, role: You write., prompt: '{{input}}'}}}}
  - {{id: critic, type: agent, config: {{{config}, role: You judge., prompt: '{{writer}}'}}}}
edges: [{{from: writer, to: critic}}, {{from: critic, to: end}}]
"
    ));
    assert_eq!(server.calls(), 2);

    let more = ["--at", "critic:1", "--model", "large"];
    recorded.forks(&more, "small large\n");
    assert_eq!(server.calls(), 3);
}
