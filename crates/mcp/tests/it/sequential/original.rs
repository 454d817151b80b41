//! The cases that the original has tests for.

use cogwork_mcp::Server;
use serde_json::{Value, json};

use crate::support::{Client, text, thought};

/// Makes calls, and returns the text of the last result.
async fn last(calls: &[Value]) -> String {
    let client = Client::new(Server::builder()).await;
    let mut last = String::new();
    for others in calls {
        let result = client.call("sequentialthinking", thought(others.clone()));
        let result = result.await;
        assert_eq!((result.content.len(), result.is_error), (1, None));
        last = text(&result).to_owned();
    }
    last
}

fn in_branch(id: &str, number: u64) -> Value {
    json!({"thoughtNumber": number, "branchFromThought": 1, "branchId": id})
}

#[tokio::test]
async fn a_result_is_one_text_of_indented_json_in_a_fixed_order() {
    let text = last(&[in_branch("b", 1), in_branch("a", 2)]).await;
    insta::assert_snapshot!(text, @r#"
    {
      "thoughtNumber": 2,
      "totalThoughts": 3,
      "nextThoughtNeeded": true,
      "branches": [
        "b",
        "a"
      ],
      "thoughtHistoryLength": 2
    }
    "#);
}

#[tokio::test]
async fn thoughts_are_recorded_with_whatever_else_is_said() {
    let revision = json!({
        "thoughtNumber": 2, "isRevision": true, "revisesThought": 1, "needsMoreThoughts": false,
    });
    let unknown = json!({"branchFromThought": 99, "branchId": "b", "revisesThought": 7});
    let without_start = json!({"branchId": "b"});
    let without_name = json!({"branchFromThought": 1});
    let empty_name = json!({"branchId": "", "branchFromThought": 1});

    // The calls, and the number, the estimate, the branches and the count of the last answer.
    for (calls, expected) in [
        (vec![json!({"thought": "First"})], json!([1, 3, [], 1])),
        (
            vec![json!({"thought": "", "other": 1})],
            json!([1, 3, [], 1]),
        ),
        (vec![revision], json!([2, 3, [], 1])),
        // The estimate grows with the number.
        (vec![json!({"thoughtNumber": 5})], json!([5, 5, [], 1])),
        (
            vec![json!({}), in_branch("x", 2), in_branch("y", 2)],
            json!([2, 3, ["x", "y"], 3]),
        ),
        (vec![unknown], json!([1, 3, ["b"], 1])),
        // A branch needs a name and a start.
        (
            vec![without_start, without_name, empty_name],
            json!([1, 3, [], 3]),
        ),
    ] {
        let text = last(&calls).await;
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        let names = [
            "thoughtNumber",
            "totalThoughts",
            "branches",
            "thoughtHistoryLength",
        ];
        assert_eq!(
            json!(names.map(|name| &answer[name])),
            expected,
            "{calls:?}"
        );
        assert_eq!(answer["nextThoughtNeeded"], true);
    }
}
