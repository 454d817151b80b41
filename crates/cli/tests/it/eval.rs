//! The command `eval`, on the suite of the examples.

use serde_json::Value;

use crate::support::{Place, Told};

const SUITE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/files/eval.yaml"
);

fn eval(place: &Place, arguments: &[&str]) -> Told {
    let begin = ["eval", SUITE, "--quiet", "--journal", "runs"];
    place.cogwork(&[&begin, arguments].concat())
}

#[test]
fn a_suite_makes_a_table_a_page_and_a_choice() {
    let place = Place::new();
    let arguments = [
        "--json",
        "--page",
        "table.html",
        "--run-pages",
        "--pick",
        "most accuracy",
        "-o",
        "best.yaml",
    ];
    let made = eval(&place, &arguments);
    assert_eq!(made.code, 0, "{made:?}");

    let arms = serde_json::from_str::<Value>(&made.out).unwrap()["arms"]
        .as_array()
        .unwrap()
        .clone();
    let names: Vec<_> = arms
        .iter()
        .map(|arm| arm["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["guess", "in steps", "with a plan"]);
    assert!(
        arms.iter()
            .all(|arm| arm["accuracy"].is_number() && arm["interval"].is_array())
    );

    assert_eq!(made.err, "picked: with a plan\n");
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
    let made = eval(&place, &["--json"]);
    place.write("earlier.json", &made.out);

    let same = eval(&place, &["--baseline", "earlier.json"]);
    assert_eq!(same.code, 0, "{same:?}");
    let strict = eval(&place, &["--require", "accuracy >= 0.9"]);
    assert_eq!(strict.code, 3, "{strict:?}");
    let wrong = eval(&place, &["--baseline", "missing.json"]);
    assert_eq!(wrong.code, 4, "{wrong:?}");
}
