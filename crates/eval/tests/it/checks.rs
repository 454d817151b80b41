//! What counts as a right answer.

use cogwork_eval::{Check, calculator};
use serde_json::{Value, json};

fn check(written: Value) -> Check {
    serde_json::from_value(written).unwrap()
}

fn assert_accepts(check: &Check, right: &[&str], wrong: &[&str]) {
    for answer in right {
        assert!(
            check.accepts(answer),
            "{check:?}: {answer:?} should be right"
        );
    }
    for answer in wrong {
        assert!(
            !check.accepts(answer),
            "{check:?}: {answer:?} should be wrong"
        );
    }
}

#[test]
fn texts_are_compared_without_case_space_and_punctuation() {
    let right = [
        "Oslo",
        " oslo. ",
        "**Oslo**",
        "It is the capital.\nOslo",
        "The answer is: Oslo!",
    ];
    let wrong = ["Oslo or Bergen", "", "Os lo", "Not Oslo, I think"];
    assert_accepts(&check(json!({"exact": "Oslo"})), &right, &wrong);
}

#[test]
fn the_last_number_counts() {
    let right = [
        "42",
        "42.",
        "It is 42.0",
        "6 * 7 = 42",
        "**42**",
        "$42",
        "84/2",
    ];
    let wrong = [
        "",
        "forty-two",
        "-42",
        "421",
        "42 or 43",
        "NaN",
        "1e999",
        "4 2",
    ];
    assert_accepts(&Check::from(42.0), &right, &wrong);

    let large = Check::from(1_234_567.5);
    assert_accepts(&large, &["1,234,567.5", "1234567.5"], &["1,234,567"]);
    assert_accepts(
        &Check::from(-3.0),
        &["-3", "x = -3", "−3"],
        &["3", "5-3", "a-3"],
    );
    assert_accepts(
        &Check::from(0.0),
        &["0", "0.0", "-0"],
        &["NaN", "1e-3", "0/0"],
    );
}

#[test]
fn numbers_have_a_tolerance_and_a_unit() {
    let close = check(json!({"number": {"value": 3.2, "tolerance": 0.1}}));
    assert_accepts(&close, &["3.14", "3.25", "22/7"], &["3.4", "3"]);

    let speed = check(json!({"number": {"value": 80, "unit": "km/h"}}));
    assert_accepts(
        &speed,
        &["80 km/h", "80km/h.", "It goes at 80 KM/H"],
        &["80", "80 km", "80 km/hour"],
    );
}

#[test]
fn sets_choices_patterns_and_schemas() {
    let set = check(json!({"set": ["Ada", "Ben"]}));
    assert_accepts(
        &set,
        &["Ada, Ben", "Knights: ben and Ada.", "Ben\nAda"],
        &["Ada", "Ada, Ben, Cleo", ""],
    );

    let choice = check(json!({"choice": "B"}));
    assert_accepts(
        &choice,
        &["B", "(B)", "Not A, so the answer is B."],
        &["A", "b", "BC", "B, no: C"],
    );

    let pattern = check(json!({"regex": "^[A-Z]{3}-\\d+$"}));
    assert_accepts(&pattern, &["ABC-12"], &["ABC-", "abc-12"]);

    let schema = check(json!({"schema": {"type": "object", "required": ["n"]}}));
    assert_accepts(
        &schema,
        &["{\"n\": 1}", " {\"n\": null}\n"],
        &["{}", "n", "[1]", ""],
    );

    let function = Check::Function(|answer| answer.len() == 3);
    assert_accepts(&function, &["abc"], &["ab"]);
}

#[test]
fn calculations_are_read_and_their_numbers_counted() {
    let all = check(json!({"calculation": {"numbers": [3, 3, 8, 8], "target": 24, "all": true}}));
    let right = [
        "8 / (3 - 8 / 3)",
        "8/(3-(8/3)) = 24",
        "The answer: 8 ÷ (3 − 8 ÷ 3)",
        "8.0 / (3.0 - 8 / 3)",
        "**`8 / (3 - $8 / 3$)`.**",
    ];
    let wrong = [
        "3 * 8",
        "8 * 3 * 1",
        "24",
        "8 / (3 - 8 / 3",
        "8 / 0",
        "",
        "(((((((((((((((((((((((((((((((((3",
    ];
    assert_accepts(&all, &right, &wrong);

    let some = check(json!({"calculation": {"numbers": [2, 5, 9], "target": 10}}));
    assert_accepts(
        &some,
        &["2 * 5", "5 × 2"],
        &[
            "5 + 5",
            "9 + 1",
            ".5 * 2 * 9 + 1",
            "999999999999999999999 * 2",
        ],
    );
}

#[tokio::test]
async fn calculations_are_read_as_models_write_them() {
    for (calculation, expected) in [
        (".5 + 1", Some("1.5")),
        ("5. + .25", Some("5.25")),
        ("(1+2)*3 =", Some("9")),
        ("(1 + 2) * 3.", Some("9")),
        ("6:2", Some("3")),
        ("$3 * 8$", Some("24")),
        ("`3 × $8`", Some("24")),
        ("3 $ 8", None),
        ("1.2.3", None),
        ("2 ** 3", None),
        ("2 +", None),
        ("", None),
    ] {
        let input = json!({"calculation": calculation});
        let value = calculator().call_with("calculator", input).await;
        if let Err(error) = &value {
            let known = "expected numbers with +, -, *, / and parentheses";
            assert!(error.to_string().contains(known), "{error}");
        }
        assert_eq!(value.ok().as_deref(), expected, "{calculation}");
    }
}

#[test]
fn an_answer_without_a_check_says_how_it_is_compared() {
    let cases = [
        (json!(42), "42", "43"),
        (json!("1,000"), "1000", "100"),
        (json!("Oslo"), "oslo", "Bergen"),
        (json!(["a", "b"]), "b, a", "a"),
        (json!(true), "True", "false"),
    ];
    for (answer, right, wrong) in cases {
        assert_accepts(&Check::of_answer(&answer), &[right], &[wrong]);
    }
}

#[test]
fn huge_answers_are_wrong_at_once() {
    let long = "1".repeat(1 << 20);
    for written in [
        json!({"exact": "1"}),
        json!({"set": ["1"]}),
        json!({"regex": "1"}),
    ] {
        assert!(!check(written).accepts(&long));
    }
}
