//! Arguments that a tool refuses: each is named, with what is expected.

use cogwork_llm::ScriptedClient;
use cogwork_mcp::Server;
use serde_json::json;

use crate::support::{Client, thought};

#[tokio::test]
async fn faulty_arguments_are_named_with_what_is_expected_and_change_nothing() {
    let model = ScriptedClient::default();
    let builder = Server::builder().with_client(model.clone());
    let tools = [
        "sequentialthinking",
        "reason",
        "think",
        "think_session",
        "solve",
    ];
    let client = Client::new(builder.with_built_in_tools(tools)).await;
    let begin = json!({"strategy": "react", "sessionId": "s", "thought": "Begin."});
    client.accepted("think", begin).await;
    client.count(json!({"sessionId": "steps"})).await;

    let list = client.accepted("reason", json!({})).await;
    let show = json!({"operation": "show", "format": "json", "sessionId": "s"});
    let shown = client.accepted("think_session", show.clone()).await;

    let faulty = [
        ("think", json!({})),
        ("think", json!({"thought": "x", "parameters": "a"})),
        ("think", json!({"thought": "x", "revises": 0})),
        ("think", json!({"thought": "x", "revises": 1.5})),
        ("think", json!({"thought": "x", "strategy": "tree"})),
        ("think", json!({"thought": "x", "thougth": "y"})),
        ("think", json!({"thought": "x", "sessionId": "none"})),
        (
            "think",
            json!({"thought": "x", "strategy": "linear", "sessionId": "s"}),
        ),
        ("think_session", json!({})),
        ("think_session", json!({"operation": "jump"})),
        ("think_session", json!({"operation": "score", "score": 11})),
        ("think_session", json!({"operation": "score"})),
        (
            "think_session",
            json!({"operation": "merge", "thought": "x"}),
        ),
        (
            "think_session",
            json!({"operation": "show", "format": "pdf"}),
        ),
        ("think_session", json!({"operation": "remove"})),
        ("reason", json!({"problem": " "})),
        ("reason", json!({"problem": "?", "maxReplies": 1_001})),
        ("reason", json!({"problem": "?", "budget": 3})),
        ("reason", json!({"problem": "?", "strategy": "magic"})),
        // Five answers from one context would not be independent.
        (
            "reason",
            json!({"problem": "?", "strategy": "self_consistency"}),
        ),
        ("reason", json!({"problem": "?", "strategy": "rewoo"})),
        (
            "reason",
            json!({"problem": "?", "strategy": "react", "tools": [{"name": "a b"}]}),
        ),
        ("solve", json!({})),
        ("solve", json!({"problem": " \n"})),
        ("solve", json!({"problem": "?", "strategy": "tree"})),
        ("solve", json!({"problem": "?", "strategy": "flow"})),
        ("solve", json!({"problem": "?", "budget": 7})),
        ("solve", json!({"problem": "?", "budget": {"calls": 101}})),
        ("solve", json!({"problem": "?", "temperature": 1})),
    ];
    let of_thoughts = [
        json!({"thought": null}),
        json!({"thoughtNumber": "abc"}),
        json!({"thoughtNumber": "NaN"}),
        json!({"thoughtNumber": 0}),
        json!({"totalThoughts": 1.5}),
        json!({"totalThoughts": true}),
        json!({"branchFromThought": 9_007_199_254_740_992_u64}),
        json!({"nextThoughtNeeded": "maybe"}),
        json!({"needsMoreThoughts": 1}),
    ];

    let mut told = Vec::new();
    for (tool, arguments) in faulty {
        let text = client.refused(tool, arguments.clone()).await;
        let line = text.lines().next().unwrap_or_default();
        told.push(format!("{tool} {arguments}\n  {line}"));
    }
    for others in of_thoughts {
        let text = client
            .refused("sequentialthinking", thought(others.clone()))
            .await;
        told.push(format!("sequentialthinking {others}\n  {text}"));
    }
    insta::assert_snapshot!(told.join("\n"));

    assert_eq!(client.accepted("reason", json!({})).await, list);
    assert_eq!(client.accepted("think_session", show).await, shown);
    assert_eq!(client.count(json!({"sessionId": "steps"})).await, 2);
    assert_eq!(model.requests(), [], "the model was called");
}

#[tokio::test]
async fn an_id_that_cannot_be_one_is_refused() {
    let builder = Server::builder().with_client(ScriptedClient::default());
    let tools = ["sequentialthinking", "think", "solve"];
    let client = Client::new(builder.with_built_in_tools(tools)).await;
    let long = "a".repeat(129);

    for id in ["", "a b", "a/b", "../x", "ä", "\u{1b}[2J", &long] {
        for (tool, arguments) in [
            ("sequentialthinking", thought(json!({"sessionId": id}))),
            ("think", json!({"thought": "x", "sessionId": id})),
            ("solve", json!({"problem": "?", "sessionId": id})),
        ] {
            let refused = client.refused(tool, arguments).await;
            assert!(refused.contains("1 to 128 ASCII letters"), "{refused}");
        }
    }
}
