//! Pages of runs: the command `trace`, and the option `--page`.

use std::fs;

use crate::support::{Place, run_id};

/// A folder with a flow that replies with a long text, without a server.
fn place() -> Place {
    let reply = "long ".repeat(4_000);
    let rules = format!("[{{when: Go, reply: \"{reply}\"}}]");
    Place::with_flow(&format!(
        "name: shop\nnodes: [{{id: a, type: agent, config: {{provider: rules, rules: {rules}}}}}]"
    ))
}

/// Runs the flow with a journal, and returns the id of the run.
fn run(place: &Place, journal: &str) -> String {
    let told = place.cogwork(&["run", "flow.yaml", "-i", "Go", "--journal", journal]);
    assert_eq!(told.code, 0, "{}", told.err);
    run_id(&told.err).to_owned()
}

#[test]
fn a_page_of_a_run_in_any_place() {
    let place = place();
    for journal in ["runs", "tickets.db"] {
        let run = run(&place, journal);
        let told = place.cogwork(&["trace", &run, "--journal", journal, "-o", "run.html"]);
        assert_eq!((told.code, told.err.as_str()), (0, ""));

        let page = place.read("run.html");
        assert!(page.contains(&format!("<title>shop · {run}</title>")));
        assert!(page.contains("long long"));
        assert_eq!(place.cogwork(&["runs", "--journal", journal, &run]).code, 0);
    }
}

#[test]
fn a_run_without_a_journal_has_a_page_too() {
    let place = place();
    let told = place.cogwork(&["run", "flow.yaml", "-q", "-i", "Go", "--page", "run.html"]);
    assert_eq!((told.code, told.err.as_str()), (0, ""));

    // The input, the output of the node and the answer.
    let page = place.read("run.html");
    for part in [
        "long long",
        r#""input":"Go""#,
        r#""source":"output""#,
        r#""type":"answered""#,
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn that_fails_keeps_what_is_there() {
    let place = place();
    let quiet = "run flow.yaml -q -i Go --journal runs --no-events --id silent";
    let quiet: Vec<_> = quiet.split(' ').collect();
    assert_eq!(place.cogwork(&quiet).code, 0);
    let run = run(&place, "runs");
    let journal = format!("runs/{run}.jsonl");
    place.write("empty", "");

    let run = run.as_str();
    let no_page = "there is a file that isn't a page";
    for (run, output, expected) in [
        ("other", "run.html", "there is no run `other`"),
        ("silent", "run.html", "no events of the run"),
        (run, journal.as_str(), no_page),
        (run, "empty", no_page),
        (run, "none/run.html", "none/run.html: could not be written"),
    ] {
        let before = fs::read(place.path(output)).ok();
        let told = place.cogwork(&["trace", run, "--journal", "runs", "-o", output]);
        assert_eq!(told.code, 4, "{told:?}");
        assert!(told.err.contains(expected), "{told:?}");
        assert_eq!(fs::read(place.path(output)).ok(), before);
    }

    assert_eq!(place.cogwork(&["trace", run, "--journal", "runs"]).code, 2);
}

#[test]
fn the_address_of_a_server_is_shown_without_its_password() {
    let address = "postgres://me:hunter2@127.0.0.1:1/db";
    let told = place().cogwork(&["run", "flow.yaml", "-i", "Go", "--journal", address]);
    assert_eq!(told.code, 4, "{told:?}");
    assert!(!told.err.contains("hunter2"), "{told:?}");
}

#[test]
fn a_run_has_the_id_that_it_is_given() {
    let place = place();
    let run = ["run", "flow.yaml", "-q", "-i", "Go", "--journal", "runs"];
    let run = [&run[..], &["--id", "a tale"]].concat();
    assert_eq!(place.cogwork(&run).code, 0);
    assert_eq!(
        place.cogwork(&["runs", "--journal", "runs", "a tale"]).code,
        0
    );

    let again = place.cogwork(&run);
    assert_eq!(again.code, 4);
    assert!(
        again.err.contains("the run `a tale` already exists"),
        "{again:?}"
    );
}
