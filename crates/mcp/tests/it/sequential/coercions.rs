//! What is accepted for each argument, and the texts of errors. All of them were compared with
//! those of the original.

use cogwork_mcp::{Server, ServerLimits};
use serde_json::{Value, json};

use super::support::{answer, record, refusal, thought};
use crate::support::{Client, connect};

const PREFIX: &str =
    "MCP error -32602: Input validation error: Invalid arguments for tool sequentialthinking: ";

async fn problem(client: &Client, arguments: Value) -> String {
    let refusal = refusal(client, arguments).await;
    let problem = refusal.strip_prefix(PREFIX).expect("the usual prefix");
    problem.to_owned()
}

#[tokio::test]
async fn numbers_may_be_texts() {
    let client = connect(Server::builder()).await;
    let cases = [
        (json!("3"), 3),
        (json!(" 3\t\n"), 3),
        (json!("3.0"), 3),
        (json!("1e3"), 1_000),
        (json!("9007199254740991"), 9_007_199_254_740_991_u64),
        (json!(9_007_199_254_740_991_u64), 9_007_199_254_740_991),
        (json!(1.0), 1),
    ];

    for (value, expected) in cases {
        let arguments = thought(json!({ "thoughtNumber": value }));
        let answer = answer(&client, arguments).await;
        assert_eq!(answer["thoughtNumber"], expected, "{value}");
    }
}

#[tokio::test]
async fn numbers_that_cannot_be_used_are_refused() {
    const NAN: &str = "Invalid input: expected number, received NaN";
    const SMALL: &str = "Too small: expected number to be >=1";
    const INT: &str = "Invalid input: expected int, received number";
    const BIG: &str = "Too big: expected int to be <=9007199254740991";

    let client = connect(Server::builder()).await;
    let cases = [
        (json!("abc"), NAN),
        (json!("1_000"), NAN),
        (json!(""), NAN),
        (json!("NaN"), NAN),
        (json!("infinity"), NAN),
        (json!(true), NAN),
        (json!(null), NAN),
        (json!([3]), NAN),
        (json!({}), NAN),
        (json!("-3"), SMALL),
        (json!(0), SMALL),
        (json!(-1e300), SMALL),
        (json!(1.5), INT),
        (json!(".5"), INT),
        (json!(9_007_199_254_740_992_u64), BIG),
        (json!(1e300), BIG),
    ];

    for (value, expected) in cases {
        for name in [
            "thoughtNumber",
            "totalThoughts",
            "revisesThought",
            "branchFromThought",
        ] {
            let arguments = thought(json!({ name: value }));
            let problem = problem(&client, arguments).await;
            assert_eq!(problem, format!("{expected} at {name}"), "{value}");
        }
    }
}

#[tokio::test]
async fn booleans_may_be_texts_in_any_case() {
    let client = connect(Server::builder()).await;

    for (value, expected) in [("true", true), ("TRUE", true), ("False", false)] {
        let arguments = json!({
            "nextThoughtNeeded": value,
            "isRevision": value,
            "needsMoreThoughts": value,
        });
        let answer = answer(&client, thought(arguments)).await;
        assert_eq!(answer["nextThoughtNeeded"], expected, "{value}");
    }
}

#[tokio::test]
async fn other_booleans_are_refused() {
    let client = connect(Server::builder()).await;

    for name in ["nextThoughtNeeded", "isRevision", "needsMoreThoughts"] {
        for text in ["maybe", "", " true", "1", "a\"b\nc"] {
            let problem = problem(&client, thought(json!({ name: text }))).await;
            let expected = r#"Expected boolean or "true"/"false" string, received"#;
            assert_eq!(problem, format!("{expected} \"{text}\" at {name}"));
        }
        for value in [json!(1), json!(null), json!([]), json!({}), json!(["true"])] {
            let problem = problem(&client, thought(json!({ name: value }))).await;
            assert_eq!(problem, format!("Invalid input at {name}"));
        }
    }
}

#[tokio::test]
async fn an_error_repeats_only_the_start_of_a_long_value() {
    let client = connect(Server::builder()).await;
    let long = "é".repeat(100_000);

    let problem = problem(&client, thought(json!({ "nextThoughtNeeded": long }))).await;

    assert!(problem.contains(&format!("\"{}…\"", "é".repeat(1_000))));
}

#[tokio::test]
async fn texts_are_not_converted() {
    let client = connect(Server::builder()).await;
    let cases = [
        (json!(null), "null"),
        (json!(1), "number"),
        (json!(true), "boolean"),
        (json!([]), "array"),
        (json!({}), "object"),
    ];

    for (value, received) in cases {
        for name in ["thought", "branchId"] {
            let problem = problem(&client, thought(json!({ name: value }))).await;
            let expected = format!("Invalid input: expected string, received {received} at {name}");
            assert_eq!(problem, expected);
        }
    }
}

#[tokio::test]
async fn all_problems_are_listed() {
    let client = connect(Server::builder()).await;
    let arguments = json!({
        "totalThoughts": "x",
        "thought": 1,
        "thoughtNumber": 1.5,
        "nextThoughtNeeded": 4,
        "isRevision": "q",
        "revisesThought": -1,
        "branchFromThought": null,
        "branchId": 2,
        "needsMoreThoughts": [],
    });

    insta::assert_snapshot!(problem(&client, arguments).await, @r#"
    Invalid input: expected string, received number at thought
    Invalid input at nextThoughtNeeded
    Invalid input: expected int, received number at thoughtNumber
    Invalid input: expected number, received NaN at totalThoughts
    Expected boolean or "true"/"false" string, received "q" at isRevision
    Too small: expected number to be >=1 at revisesThought
    Invalid input: expected number, received NaN at branchFromThought
    Invalid input: expected string, received number at branchId
    Invalid input at needsMoreThoughts
    "#);
    insta::assert_snapshot!(problem(&client, json!({})).await, @r"
    Invalid input: expected string, received undefined at thought
    Invalid input at nextThoughtNeeded
    Invalid input: expected number, received NaN at thoughtNumber
    Invalid input: expected number, received NaN at totalThoughts
    ");
}

#[tokio::test]
async fn a_refused_call_changes_nothing() {
    let client = connect(Server::builder()).await;

    answer(&client, thought(json!({}))).await;
    record(&client, json!({})).await;
    let last = answer(&client, thought(json!({}))).await;

    assert_eq!(last["thoughtHistoryLength"], 2);
}

#[tokio::test]
async fn a_branch_needs_a_name_and_a_start() {
    let client = connect(Server::builder()).await;

    answer(&client, thought(json!({ "branchId": "b" }))).await;
    answer(&client, thought(json!({ "branchFromThought": 1 }))).await;
    answer(
        &client,
        thought(json!({ "branchId": "", "branchFromThought": 1 })),
    )
    .await;
    let last = answer(&client, thought(json!({ "thought": "", "other": 1 }))).await;

    assert_eq!(last["branches"], json!([]));
    assert_eq!(last["thoughtHistoryLength"], 4);
}

#[tokio::test]
async fn revisions_and_branches_of_unknown_thoughts_are_accepted() {
    let client = connect(Server::builder()).await;
    let arguments = json!({ "branchFromThought": 99, "branchId": "b", "revisesThought": 7 });

    let answer = answer(&client, thought(arguments)).await;

    assert_eq!(answer["branches"], json!(["b"]));
}

#[tokio::test]
async fn a_text_that_is_too_long_is_refused() {
    let limits = ServerLimits {
        thought_bytes: 4,
        ..ServerLimits::default()
    };
    let client = connect(Server::builder().with_limits(limits)).await;

    answer(&client, thought(json!({ "thought": "four" }))).await;
    let cases = [
        ("thought", "fünf".to_owned(), 4),
        ("branchId", "b".repeat(1_025), 1_024),
    ];
    for (name, text, most) in cases {
        let problem = problem(&client, thought(json!({ name: text }))).await;
        let expected = format!("Too big: expected string to have <={most} bytes at {name}");
        assert_eq!(problem, expected);
    }
}
