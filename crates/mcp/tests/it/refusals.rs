//! Arguments that a tool refuses: each is named, with what is expected.

use cogwork_llm::ScriptedClient;
use cogwork_mcp::Server;
use serde_json::{Value, json};

use crate::support::{Client, thought};

/// Five answers from one context would not be independent, so `reason` doesn't offer
/// `self_consistency`.
const FAULTY: &str = r#"
think {}
think {"thought": "x", "parameters": "a"}
think {"thought": "x", "revises": 0}
think {"thought": "x", "revises": 1.5}
think {"thought": "x", "strategy": "tree"}
think {"thought": "x", "thougth": "y"}
think {"thought": "x", "sessionId": "none"}
think {"thought": "x", "purpose": "Another"}
think {"thought": "x", "strategy": "linear", "sessionId": "s"}
think {"thought": "x", "strategy": "react", "purpose": "Another", "sessionId": "s"}
think_session {}
think_session {"operation": "jump"}
think_session {"operation": "score", "score": 11}
think_session {"operation": "score"}
think_session {"operation": "merge", "thought": "x"}
think_session {"operation": "show", "format": "pdf"}
think_session {"operation": "remove"}
reason {"problem": " "}
reason {"problem": "?", "maxReplies": 1001}
reason {"problem": "?", "budget": 3}
reason {"problem": "?", "strategy": "magic"}
reason {"problem": "?", "strategy": "self_consistency"}
reason {"problem": "?", "strategy": "rewoo"}
reason {"problem": "?", "strategy": "step_back", "tools": [{"name": "a"}]}
reason {"problem": "?", "strategy": "react", "tools": [{"name": "a b"}]}
solve {}
solve {"problem": " \n"}
solve {"problem": "?", "strategy": "tree"}
solve {"problem": "?", "strategy": "flow"}
solve {"problem": "?", "budget": 7}
solve {"problem": "?", "budget": {"calls": 101}}
solve {"problem": "?", "budget": {"steps": 10}}
solve {"problem": "?", "temperature": 1}
sequentialthinking {"thought": null}
sequentialthinking {"thoughtNumber": "abc"}
sequentialthinking {"thoughtNumber": "NaN"}
sequentialthinking {"thoughtNumber": 0}
sequentialthinking {"totalThoughts": 1.5}
sequentialthinking {"totalThoughts": true}
sequentialthinking {"branchFromThought": 9007199254740992}
sequentialthinking {"nextThoughtNeeded": "maybe"}
sequentialthinking {"needsMoreThoughts": 1}
"#;

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

    let mut told = Vec::new();
    for line in FAULTY.trim().lines() {
        let (tool, arguments) = line.split_once(' ').expect("a tool");
        let arguments: Value = serde_json::from_str(arguments).expect("JSON");
        told.push(format!("{tool} {arguments}"));
        let arguments = match tool {
            "sequentialthinking" => thought(arguments),
            _ => arguments,
        };
        let text = client.refused(tool, arguments).await;
        told.push(format!("  {}", text.lines().next().unwrap_or_default()));
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
