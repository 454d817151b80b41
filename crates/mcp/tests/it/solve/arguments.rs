use cogwork_llm::ScriptedClient;
use cogwork_mcp::{Server, ServerLimits};
use serde_json::{Value, json};

use crate::host::{Era, Host};
use crate::support::text;

async fn refusal(arguments: Value) -> String {
    let client = ScriptedClient::default();
    let limits = ServerLimits {
        thought_bytes: 1_000,
        ..ServerLimits::default()
    };
    let builder = Server::builder().with_limits(limits);
    let builder = builder.with_client(client.clone());
    let host = Host::connect(&builder.open().expect("it opens"), Era::Initialize).await;

    let result = host.solve(arguments).await;

    assert_eq!(result.is_error, Some(true));
    assert!(client.requests().is_empty(), "the model was called");
    text(&result).to_owned()
}

#[tokio::test]
async fn faulty_arguments_are_named_with_what_is_expected() {
    let long = "x".repeat(1_001);
    let cases = [
        (json!({}), "problem"),
        (json!({"problem": " \n"}), "problem"),
        (json!({"problem": 7}), "problem"),
        (json!({"problem": long}), "at most 1000 bytes"),
        (
            json!({"problem": "?", "strategy": "tree"}),
            "`tree_of_thoughts`",
        ),
        (json!({"problem": "?", "strategy": "flow"}), "`loop`"),
        (json!({"problem": "?", "budget": 7}), "an object"),
        (
            json!({"problem": "?", "budget": {"calls": 101}}),
            "an integer from 1 to 100",
        ),
        (
            json!({"problem": "?", "budget": {"calls": 0}}),
            "budget.calls",
        ),
        (
            json!({"problem": "?", "budget": {"seconds": 901}}),
            "an integer from 1 to 900",
        ),
        (
            json!({"problem": "?", "budget": {"bytes": 1}}),
            "`thoughts`",
        ),
        (json!({"problem": "?", "sessionId": "a b"}), "ASCII letters"),
        (
            json!({"problem": "?", "sessionId": "../x"}),
            "ASCII letters",
        ),
        (json!({"problem": "?", "temperature": 1}), "temperature"),
    ];

    for (arguments, expected) in cases {
        let refusal = refusal(arguments.clone()).await;
        assert!(refusal.contains(expected), "{arguments}: {refusal}");
    }
}

#[tokio::test]
async fn a_session_is_not_used_twice() {
    let client = ScriptedClient::new(["answer: 51", "answer: 52"]);
    let server = Server::builder().with_client(client.clone());
    let host = Host::connect(&server.open().expect("it opens"), Era::Initialize).await;
    let arguments = json!({
        "problem": "What is 17 * 3?",
        "strategy": "step_back",
        "budget": {"calls": 1},
        "sessionId": "mine",
    });

    host.solve(arguments.clone()).await;
    let again = host.solve(arguments).await;

    assert_eq!(text(&again), "the session `mine` already exists");
    assert_eq!(client.requests().len(), 1);
}
