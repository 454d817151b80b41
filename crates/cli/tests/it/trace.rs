//! Pages of runs: the command `trace`, and the option `--page`.

use crate::support::Place;

fn place() -> Place {
    Place::with_flow(
        "name: shop\nnodes: [{id: a, type: agent, config: {provider: rules, rules: [], else: A cup.}}]",
    )
}

/// Runs the flow with a journal, under the id `tale`.
fn record(place: &Place, journal: &str, more: &[&str]) {
    let run = ["run", "flow.yaml", "-q", "-i", "Go", "--journal", journal];
    place.cogwork(&[&run, more].concat()).answers("A cup.\n");
}

#[test]
fn a_page_of_a_run_in_any_place() {
    let place = place();
    for journal in ["runs", "tickets.db"] {
        record(&place, journal, &["--id", "tale"]);
        let told = place.line(&format!("trace tale --journal {journal} -o run.html"));
        assert_eq!((told.code, told.err.as_str()), (0, ""));

        let page = place.read("run.html");
        assert!(page.contains("<title>shop · tale</title>"));
        assert!(page.contains("A cup."));
    }
}

#[test]
fn a_run_without_a_journal_has_a_page_too() {
    let place = place();
    place
        .line("run flow.yaml -q -i Go --page run.html")
        .answers("A cup.\n");
    let page = place.read("run.html");
    for part in ["A cup.", r#""input":"Go""#, r#""source":"output""#] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_page_that_cannot_be_written_costs_no_call() {
    let place = place();
    for (page, code, problem) in [
        ("none/run.html", 4, "none/run.html: could not be written"),
        ("flow.yaml", 2, "expected a file that ends with .html"),
    ] {
        let told = place.line(&format!("run flow.yaml -i Go --journal runs --page {page}"));
        told.fails(code, problem);
        assert!(!place.path("runs").exists());
    }
}

#[test]
fn a_page_that_cannot_be_made_is_told() {
    let place = place();
    record(&place, "runs", &["--id", "silent", "--no-events"]);
    record(&place, "runs", &["--id", "tale"]);
    for (run, output, expected) in [
        ("other", "run.html", "there is no run `other`"),
        ("silent", "run.html", "no events of the run"),
        ("tale", "none/run.html", "none/run.html: could not be"),
    ] {
        let told = place.cogwork(&["trace", run, "--journal", "runs", "-o", output]);
        told.fails(4, expected);
        assert!(!place.path(output).exists());
    }

    place.line("trace tale --journal runs").fails(2, "");
}

#[test]
fn the_address_of_a_server_is_shown_without_its_password() {
    let address = "postgres://me:hunter2@127.0.0.1:1/db";
    let told = place().cogwork(&["run", "flow.yaml", "-i", "Go", "--journal", address]);
    assert_eq!(told.code, 4, "{told:?}");
    assert!(!told.err.contains("hunter2"), "{told:?}");
}
