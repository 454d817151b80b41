//! What is accepted for each argument. What is refused is in `refusals`.

use cogwork_mcp::Server;
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Client, block_on, thought};

#[tokio::test]
async fn numbers_and_booleans_may_be_texts() {
    let client = Client::new(Server::builder()).await;
    for (name, value, expected) in [
        ("thoughtNumber", json!("3"), json!(3)),
        ("thoughtNumber", json!(" 3\t\n"), json!(3)),
        ("thoughtNumber", json!("3.0"), json!(3)),
        ("thoughtNumber", json!(1.0), json!(1)),
        (
            "thoughtNumber",
            json!("9007199254740991"),
            json!(9_007_199_254_740_991_u64),
        ),
        ("nextThoughtNeeded", json!("true"), json!(true)),
        ("nextThoughtNeeded", json!("TRUE"), json!(true)),
        ("nextThoughtNeeded", json!("False"), json!(false)),
    ] {
        let mut arguments = thought(json!({"isRevision": "True", "needsMoreThoughts": "FALSE"}));
        arguments[name] = value.clone();
        let answer = client.answer(arguments).await;
        assert_eq!(answer[name], expected, "{value}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_thought_is_recorded_as_it_was_sent(text in "\\PC{0,40}|[`{}\\[\\]\":,\n<>/-]{0,40}|</think>.{0,20}|```json\n.{0,20}\n```") {
        block_on(async {
            let client = Client::new(Server::builder()).await;
            client.count(json!({"thought": text, "sessionId": "any"})).await;
            let stored = client.read_json("cogwork://sessions/any/json").await;
            assert_eq!(stored["entries"][0]["thought"], json!(text));
        });
    }
}
