//! Arguments of any kind: every call is answered, and an error changes nothing.

use cogwork_mcp::ServerLimits;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{builder, client, session, think};
use crate::support::{Client, block_on, text};

const TOOLS: [&str; 2] = ["think", "think_session"];

const NAMES: &str = "thought stage parameters revises strategy purpose sessionId branch branchFrom operation \
                     branches score format branch_from Thought thougth x";

const OPERATIONS: &str = "show switch score merge prune undo list strategies remove get";

const WORDS: &str = "main side s linear react rewoo initial_reasoning action_planning problem_reception final_response \
                     show switch true 7 \u{1b}[2J\u{202e}\"]``` {\"a\":[1,{\"b\":null}]}";

fn word(words: &'static str) -> impl Strategy<Value = String> {
    let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
    proptest::sample::select(words)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => (0..6_i64).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        4 => word(WORDS).prop_map(Value::from),
        1 => Just(json!("")),
        1 => any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        let names = prop_oneof![
            proptest::sample::select(&["action", "tool", "result", "a"][..])
                .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(names, inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// Mostly arguments of the right type, so that calls get beyond the first check.
fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    let operation = word(OPERATIONS).prop_map(Value::from);
    let others = proptest::collection::btree_map(word(NAMES), value(), 0..6);
    (others, operation, any::<bool>()).prop_map(|(mut arguments, operation, is_usual)| {
        if is_usual {
            arguments.insert("operation".to_owned(), operation);
            arguments.insert("thought".to_owned(), json!("I think."));
        }
        arguments.into_iter().collect()
    })
}

/// Returns everything that a call may change.
async fn everything(client: &Client) -> Vec<String> {
    let list = session(client, json!({"operation": "list"})).await;
    let ids = list.lines().filter_map(|line| line.strip_prefix("- `"));

    let mut all = Vec::new();
    for id in ids.map(|line| line.split('`').next().expect("an id")) {
        let show = json!({"operation": "show", "format": "json", "sessionId": id});
        all.push(session(client, show).await);
    }
    all
}

async fn check(calls: Vec<(usize, Map<String, Value>)>) {
    let limits = ServerLimits {
        thoughts: 8,
        branches: 4,
        ..ServerLimits::default()
    };
    let client = Client::new(builder().with_limits(limits)).await;
    let begin = json!({"strategy": "react", "sessionId": "s", "thought": "Begin."});
    think(&client, begin).await;
    let side = json!({"branchFrom": 1, "branch": "side", "thought": "Aside."});
    think(&client, side).await;

    for (tool, mut arguments) in calls {
        // The server is not asked to forget the session that the others are checked on.
        if arguments.get("operation") == Some(&json!("remove")) {
            arguments.remove("operation");
        }

        let before = everything(&client).await;
        let result = client.call(TOOLS[tool], Value::Object(arguments)).await;
        let message = text(&result);
        assert!(!message.contains('\u{1b}'), "{message:?}");
        if result.is_error == Some(true) {
            assert_eq!(everything(&client).await, before, "{message}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_call_is_answered_and_an_error_changes_nothing(
        calls in proptest::collection::vec((0..TOOLS.len(), arguments()), 1..12),
    ) {
        block_on(check(calls));
    }
}

#[tokio::test]
async fn numbers_and_objects_may_be_texts() {
    let client = client().await;
    let begin = json!({"strategy": "react", "session_id": "s", "thought": "Begin."});
    assert!(think(&client, begin).await.contains("Session `s`"));

    let planned = json!({
        "stage": "action_planning",
        "thought": "{not JSON}",
        "parameters": "{\"action\": \"look\"}",
        "branch_from": "1",
        "branch": null,
    });
    let answer = think(&client, planned).await;
    assert!(answer.contains("branch `branch-1` (open)"), "{answer}");
}

#[tokio::test]
async fn the_answer_to_a_thought_does_not_grow_with_the_session() {
    let client = client().await;
    let begin = json!({"strategy": "linear", "sessionId": "s", "thought": "x".repeat(1_000)});
    think(&client, begin).await;

    let mut lengths = Vec::new();
    for number in 2..=100 {
        let answer = think(&client, json!({"thought": "x".repeat(1_000)})).await;
        if [10, 99].contains(&number) {
            lengths.push(answer.len());
        }
    }
    assert_eq!(lengths[0], lengths[1]);
}
