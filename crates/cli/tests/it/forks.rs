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

/// A folder with the recorded run `first`.
struct Recorded(Place);

fn record(flow: &str) -> Recorded {
    let place = Place::new();
    place.write("pair.yaml", flow);
    let told = place.line("run pair.yaml --input roses --journal runs --id first");
    told.fails(0, "");
    Recorded(place)
}

impl Recorded {
    fn edit(&self, flow: &str) {
        self.0.write("pair.yaml", flow);
    }

    fn list(&self) -> String {
        self.0.line("runs --journal runs").out
    }

    fn fork(&self, more: &[&str]) -> Told {
        let begin = ["fork", "pair.yaml", "first", "--journal", "runs", "--at"];
        self.0.cogwork(&[&begin, more].concat())
    }

    /// What `--show` prints before a step.
    fn shown(&self, at: &str) -> Value {
        self.fork(&[at, "--show"]).json()
    }

    #[track_caller]
    fn forks(&self, more: &[&str], answer: &str) -> Told {
        let told = self.fork(more);
        told.answers(answer);
        told
    }

    #[track_caller]
    fn refuses(&self, more: &[&str], problem: &str) {
        self.fork(more).fails(4, problem);
    }
}

#[test]
fn a_fork_executes_the_rest_with_the_edited_file() {
    let recorded = record(&file("Good."));
    recorded.edit(&file("Bad."));
    for at in ["2", "critic:1"] {
        let told = recorded.forks(&[at], "Bad.\n");
        assert!(told.err.contains("to resume it: cogwork run pair.yaml"));
    }
    let told = recorded.forks(&["end", "--quiet"], "Good.\n");
    assert_eq!(told.err, "");

    let listed = recorded.list();
    let origin = "first fork 2: `pair`, forked from `first` at step 2, started";
    assert!(listed.contains(origin), "{listed}");
}

#[test]
fn the_new_run_has_the_requested_id_and_can_be_resumed() {
    let recorded = record(&file("Good."));
    let again = ["2", "--id", "again"];
    recorded.forks(&again, "Good.\n");

    let resumed = recorded
        .0
        .line("run pair.yaml --journal runs --resume again");
    resumed.answers("Good.\n");
    recorded.refuses(&again, "the run `again` already exists");
}

#[test]
fn a_changed_flow_is_accepted_on_request() {
    let recorded = record(&file("Good."));
    recorded.edit(&file("Bad.").replace("critic", "judge"));
    recorded.refuses(&["2"], "fork the run, and accept the change");
    recorded.forks(&["2", "--changed-flow"], "Bad.\n");

    // A change before the step.
    recorded.edit(&file("Bad.").replace("writer", "poet"));
    let problem = "the run visits `pair/poet#1`, but the recorded one visited `pair/writer#1`";
    recorded.refuses(&["2", "--changed-flow"], problem);
}

#[test]
fn the_recorded_outcomes_and_the_state_are_shown_and_can_be_edited() {
    let recorded = record(&file("Good."));
    let shown = recorded.shown("critic:1");
    assert_eq!(
        (&shown["step"], &shown["state"]["last"]),
        (&2.into(), &"writer".into())
    );
    let outcomes = shown["outcomes"].as_object().unwrap();
    assert_eq!(outcomes.len(), 2, "that of the node, and that of its call");
    assert_eq!(recorded.list().lines().count(), 1);

    // A text replaces that of the answer.
    let outcome = outcomes["pair/critic#2"].to_string();
    let outcome = outcome.replace("Good.", "Better.");
    let of_part = format!("pair/critic#2={outcome}");
    for edit in [
        ["--outcome", &outcome],
        ["--outcome-of", &of_part],
        ["--outcome", "Better."],
    ] {
        recorded.forks(&[&["2"], &edit[..]].concat(), "Better.\n");
    }
    // An agent's answer may be JSON.
    for text in ["5", r#"{"stars": 5}"#] {
        recorded.forks(&["2", "--outcome", text], &format!("{text}\n"));
    }

    recorded.edit(&file("Good.").replace("answer: '{critic}'", "answer: '{writer} {critic}'"));
    let state = shown["state"].to_string();
    let state = state.replace("Roses are red.", "Violets are blue.");
    recorded.0.write("state.json", &state);
    recorded.forks(&["2", "--state", "state.json"], "Violets are blue. Good.\n");
    let listed = recorded.list();
    assert!(listed.contains("with an edited state"), "{listed}");
}

#[test]
fn an_edited_outcome_can_leave_by_another_action() {
    let flow = r#"
answer: '{writer}{critic}'
nodes:
  - {id: critic, type: agent, config: {provider: scripted, replies: ["Hm.\nACTION: revise"], actions: [revise, accept]}}
  - {id: writer, type: agent, config: {provider: scripted, replies: [Roses.]}}
edges: [{from: critic, action: revise, to: writer}, {from: critic, action: accept, to: end}]
"#;
    let recorded = record(flow);
    recorded.forks(&["1", "--outcome", "Ah."], "Roses.Ah.\n");

    let shown = recorded.shown("1");
    let mut outcome = shown["outcomes"]["flow/critic#1"].clone();
    outcome["action"] = "accept".into();
    recorded.forks(&["1", "--outcome", &outcome.to_string()], "Hm.\n");
    let of_step = format!("flow/critic#1={outcome}");
    recorded.forks(&["1", "--outcome-of", &of_step], "Hm.\n");

    let outcomes = shown["outcomes"].as_object().unwrap();
    let call = outcomes.keys().find(|name| name.contains("/model "));
    let of_call = format!("{}=Great.\nACTION: accept", call.unwrap());
    recorded.forks(&["1", "--outcome-of", &of_call], "Great.\n");

    outcome["action"] = "acept".into();
    let expected =
        "the action `acept`, which the node doesn't declare; it declares `accept` and `revise`";
    recorded.refuses(&["1", "--outcome", &outcome.to_string()], expected);
}

#[test]
fn an_edit_or_a_step_that_the_flow_cannot_use_starts_nothing() {
    let recorded = record(&file("Good."));
    recorded.0.write("list.json", "[\n1");
    let misspelt = r#"{"input": {"text": "roses"}, "output": {}}"#;
    recorded.0.write("misspelt.json", misspelt);
    let no_state = "this isn't a state of a flow";
    let cases: [(&[&str], &str); 8] = [
        (&["9"], "expected a step from 1 to 3"),
        (&["writer:2"], "visit 2 to the node `writer`"),
        (&["2", "--state", "misspelt.json"], "unknown field `output`"),
        (&["2", "--state", "list.json"], no_state),
        (&["2", "--state", "none.json"], "none.json: No such file"),
        (
            &["2", "--outcome", r#"{"visit": {"output": {"text": 5}}}"#],
            "the recorded outcome cannot be read: invalid type: integer `5`, expected a string",
        ),
        (
            &["2", "--outcome-of", "critic=5"],
            "expected `pair/critic#2`",
        ),
        (&["end", "--outcome", "5"], "expected a step"),
    ];
    for (more, problem) in cases {
        recorded.refuses(more, problem);
    }
    recorded.fork(&["2", "--outcome-of", "5"]).fails(2, "");
    recorded.fork(&["soon"]).fails(2, "");

    let told = recorded.0.line("fork pair.yaml none --journal runs --at 1");
    told.fails(4, "there is no run `none`");
    assert_eq!(recorded.list().lines().count(), 1);
}
