//! The command `eval`, on the suite of the examples.

use crate::support::{Place, Told};

const SUITE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/files/eval.yaml"
);

fn eval(place: &Place, arguments: &str) -> Told {
    let begin = ["eval", SUITE, "--quiet", "--journal", "runs"];
    let arguments: Vec<_> = arguments.split(", ").collect();
    place.cogwork(&[&begin[..], &arguments].concat())
}

#[test]
fn a_suite_makes_a_table_a_page_and_a_choice() {
    let place = Place::new();
    let made = eval(
        &place,
        "--json, --page, table.html, --run-pages, --pick, most accuracy, -o, best.yaml",
    );
    assert_eq!((made.code, made.err.as_str()), (0, "picked: with a plan\n"));

    let table = made.json();
    let arms = table["arms"].as_array().unwrap().iter();
    let names: Vec<_> = arms.map(|arm| &arm["name"]).collect();
    assert_eq!(names, ["guess", "in steps", "with a plan"]);

    let best = place.read("best.yaml");
    assert!(best.contains("plan_first"), "{best}");
    let page = place.read("table.html");
    assert!(page.contains("with a plan") && page.contains("href=\"table-runs/guess-"));
    let pages = std::fs::read_dir(place.path("table-runs")).unwrap();
    assert_eq!(pages.count(), 15);
}

#[test]
fn an_earlier_table_and_conditions_set_the_exit_code() {
    let place = Place::new();
    let made = eval(&place, "--json");
    place.write("earlier.json", &made.out);
    place.write("renamed.json", &made.out.replace("\"guess\"", "\"gone\""));

    for (arguments, code) in [
        ("--baseline, earlier.json", 0),
        ("--baseline, renamed.json", 3),
        ("--require, accuracy >= 0.9", 3),
        ("--baseline, missing.json", 4),
    ] {
        eval(&place, arguments).fails(code, "");
    }
}

#[test]
fn places_are_tried_before_anything_is_asked() {
    let place = Place::new();
    for arguments in [
        "--page, missing/table.html",
        "--pick, most accuracy, -o, missing/best.yaml",
        "--pick, most accuracy, -o, .",
        "--baseline, missing.json",
    ] {
        eval(&place, arguments).fails(4, "");
        assert!(!place.path("runs").exists(), "{arguments}");
    }
}

#[test]
fn a_flow_that_names_files_is_only_written_beside_them() {
    let place = Place::new();
    for folder in ["flows", "other"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    let agent = "{provider: rules, rules: [], else: b}";
    let inner = format!("nodes: [{{id: a, type: agent, config: {agent}}}]\n");
    place.write("flows/inner.yaml", &inner);
    let outer = "nodes: [{id: outer, type: subflow, config: {file: inner.yaml}}]\n";
    place.write("flows/outer.yaml", outer);
    let suite = "
problems: [{question: a, answer: b}]
arms: [{name: outer, flow: flows/outer.yaml}]
";
    place.write("suite.yaml", suite);

    let command = "eval suite.yaml -q --pick accuracy>0 -o";
    let problem = "--output: the flow of `outer` names files that are found in ";
    place
        .line(&format!("{command} other/best.yaml"))
        .fails(4, problem);
    assert!(!place.path("suite.runs").exists());

    place
        .line(&format!("{command} flows/best.yaml"))
        .fails(0, "");
    assert_eq!(place.read("flows/best.yaml"), outer);
}

#[test]
fn a_part_of_the_runs_decides_nothing() {
    let place = Place::new();
    let suite = "
problems: [{question: a, answer: b}, {question: c, answer: d}, {question: e, answer: f}]
arms: [{name: one, config: {provider: rules, rules: [], else: b}}]
limits: {calls: 1}
at_once: 1
";
    place.write("suite.yaml", suite);
    place.write("earlier.json", &place.line("eval suite.yaml --json").out);
    let problem = "2 runs of `one` were not made, because of the limit of 1 call";

    for (arguments, code) in [
        ("eval suite.yaml -q", 0),
        ("eval suite.yaml -q --require accuracy>=0.9", 3),
        ("eval suite.yaml -q --pick accuracy>=0.9 -o best.yaml", 3),
        ("eval suite.yaml -q --baseline earlier.json", 3),
    ] {
        let told = place.line(arguments);
        assert_eq!(told.code, code, "{told:?}");
        assert!(told.out.contains(&format!("{problem}.\n")), "{told:?}");
        assert_eq!(told.err.contains(problem), code == 3, "{told:?}");
    }
    assert!(!place.path("best.yaml").exists());
}
