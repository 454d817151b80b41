//! What counts as a right answer.

use cogwork_eval::{Check, calculator};
use serde_json::{Value, json};

/// In each paragraph: a check, or a number that stands for one; right answers; and wrong ones.
const CHECKS: &str = r#"
{"exact": "Oslo"}
["Oslo", " oslo. ", "**Oslo**", "It is the capital.\nOslo", "The answer is: Oslo!"]
["Oslo or Bergen", "", "Os lo", "Not Oslo, I think"]

42
["42", "42.", "It is 42.0", "6 * 7 = 42", "**42**", "$42", "84/2"]
["", "forty-two", "-42", "421", "42 or 43", "NaN", "1e999", "4 2"]

1234567.5
["1,234,567.5", "1234567.5"]
["1,234,567"]

-3
["-3", "x = -3", "−3"]
["3", "5-3", "a-3"]

0
["0", "0.0", "-0"]
["NaN", "1e-3", "0/0"]

0.75
["3/4", "It is $\\frac{3}{4}$.", "\\boxed{\\dfrac{3}{4}}"]
["\\frac{4}{3}", "\\frac{3}{4} or 1"]

{"number": {"value": 3.2, "tolerance": 0.1}}
["3.14", "3.25", "22/7"]
["3.4", "3"]

{"number": {"value": 80, "unit": "km/h"}}
["80 km/h", "80km/h.", "It goes at 80 KM/H"]
["80", "80 km", "80 km/hour"]

{"set": ["Ada", "Ben"]}
["Ada, Ben", "Knights: ben and Ada.", "Ben\nAda"]
["Ada", "Ada, Ben, Cleo", ""]

{"choice": "B"}
["B", "b", "(B)", "Not A, so the answer is B.", "B. I hope this helps!", "**B** - because I added", "Answer: b", "The answer is B, not A.", "I think B", "A car has B"]
["A", "BC", "B, no: C", "A. Not B", "Answer: c. B is wrong", "I'm sure", "a dog"]

{"choice": "I"}
["I", "Answer: I", "(I) since it is"]
["I think so", "I'm"]

{"regex": "^[A-Z]{3}-\\d+$"}
["ABC-12"]
["ABC-", "abc-12"]

{"schema": {"type": "object", "required": ["n"]}}
["{\"n\": 1}", " {\"n\": null}\n"]
["{}", "n", "[1]", ""]

{"calculation": {"numbers": [3, 3, 8, 8], "target": 24, "all": true}}
["8 / (3 - 8 / 3)", "8/(3-(8/3)) = 24", "The answer: 8 ÷ (3 − 8 ÷ 3)", "8.0 / (3.0 - 8 / 3)", "**`8 / (3 - $8 / 3$)`.**"]
["3 * 8", "8 * 3 * 1", "24", "8 / (3 - 8 / 3", "8 / 0", "", "(((((((((((((((((((((((((((((((((3"]

{"calculation": {"numbers": [2, 5, 9], "target": 10}}
["2 * 5", "5 × 2"]
["5 + 5", "9 + 1", ".5 * 2 * 9 + 1", "999999999999999999999 * 2"]
"#;

fn check(written: Value) -> Check {
    match written.as_f64() {
        Some(number) => Check::from(number),
        None => serde_json::from_value(written).unwrap(),
    }
}

#[test]
fn answers_are_right_or_wrong() {
    for paragraph in CHECKS.trim().split("\n\n") {
        let mut lines = paragraph.lines().map(serde_json::from_str);
        let check = check(lines.next().unwrap().unwrap());
        for (is_right, answers) in [true, false].into_iter().zip(lines) {
            let answers: Value = answers.unwrap();
            for answer in answers.as_array().unwrap() {
                let accepts = check.accepts(answer.as_str().unwrap());
                assert_eq!(accepts, is_right, "{check:?}: {answer}");
            }
        }
    }

    let function = Check::Function(|answer| answer.len() == 3);
    assert!(function.accepts("abc") && !function.accepts("ab"));
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
        let value = calculator().call_with("calculator", None, input).await;
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
        let check = Check::of_answer(&answer);
        assert!(check.accepts(right) && !check.accepts(wrong), "{check:?}");
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
