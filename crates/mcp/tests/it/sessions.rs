//! What the sessions of all tools have in common.

use cogwork_llm::ScriptedClient;
use cogwork_mcp::{Server, ServerBuilder, ServerLimits};
use serde_json::{Value, json};

use crate::guided::View;
use crate::support::{Client, thought};

/// A tool whose sessions go on for several calls.
struct Tool {
    name: &'static str,
    begin: Value,
    /// The arguments of the next call after one that said this.
    next: fn(&str) -> Value,
    /// What the text says after this many calls.
    place: fn(u64) -> String,
    /// What a call without an id says on a connection without a session, if it doesn't begin one.
    refusal: Option<&'static str>,
}

fn tools() -> [Tool; 3] {
    [
        Tool {
            name: "sequentialthinking",
            begin: thought(json!({})),
            next: |_| thought(json!({})),
            place: |calls| format!("\"thoughtHistoryLength\": {calls}"),
            refusal: None,
        },
        Tool {
            name: "reason",
            begin: json!({"problem": "How far?", "strategy": "self_ask"}),
            next: |told| {
                let sub_question = "sub_question: How far is one?\nsub_question_answer: 17 km";
                let mut reply = View::of(told).reply(sub_question);
                reply
                    .as_object_mut()
                    .expect("arguments")
                    .remove("sessionId");
                reply
            },
            place: |calls| format!("{} of 100 replies", calls - 1),
            refusal: Some("there is no current session"),
        },
        Tool {
            name: "think",
            begin: json!({"strategy": "linear", "thought": "How far?"}),
            next: |_| json!({"thought": "On."}),
            place: |calls| format!("Thought {calls} is recorded."),
            refusal: Some("there is no current session"),
        },
    ]
}

fn builder() -> ServerBuilder {
    let client = ScriptedClient::new(["answer: 51", "answer: 52"]);
    let builder = Server::builder().with_client(client);
    builder.with_built_in_tools(["sequentialthinking", "reason", "think", "solve"])
}

fn named(arguments: &Value, id: &str) -> Value {
    let mut arguments = arguments.clone();
    arguments["sessionId"] = json!(id);
    arguments
}

#[tokio::test]
async fn a_session_with_a_name_is_there_for_every_connection_and_after_a_restart() {
    for tool in tools() {
        let folder = tempfile::tempdir().expect("a folder");
        let builder = builder().with_data(folder.path());
        let server = builder.clone().open().expect("a server");
        let one = Client::of(&server).await;
        let other = Client::of(&server).await;
        let restarted = Client::new(builder).await;

        let begin = named(&tool.begin, "way");
        let mut told = vec![one.accepted(tool.name, begin).await];
        for client in [other, restarted] {
            let last = told.last().expect("a first one");
            let next = named(&(tool.next)(last), "way");
            told.push(client.accepted(tool.name, next).await);
        }
        for (calls, text) in (1..).zip(told) {
            assert!(text.contains(&(tool.place)(calls)), "{}: {text}", tool.name);
        }
    }
}

#[tokio::test]
async fn calls_without_a_name_are_for_the_session_of_their_connection() {
    for tool in tools() {
        let server = builder().open().expect("a server");
        let one = Client::of(&server).await;
        let other = Client::of(&server).await;

        let begun = one.accepted(tool.name, tool.begin.clone()).await;
        let next = (tool.next)(&begun);
        let told = match tool.refusal {
            Some(_) => other.refused(tool.name, next.clone()).await,
            None => other.accepted(tool.name, next.clone()).await,
        };
        let place = (tool.place)(1);
        assert!(told.contains(tool.refusal.unwrap_or(&place)), "{told}");

        let on = one.accepted(tool.name, next).await;
        assert!(on.contains(&(tool.place)(2)), "{on}");
    }
}

#[tokio::test]
async fn after_a_restart_all_sessions_are_listed_in_one_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let client = Client::new(builder().with_data(folder.path())).await;
    for (tool, id) in tools().iter().zip(["steps", "trips", "way"]) {
        client.accepted(tool.name, named(&tool.begin, id)).await;
    }

    let client = Client::new(builder().with_data(folder.path())).await;
    insta::assert_snapshot!(client.accepted("reason", json!({})).await, @r"
    Sessions, the newest first:
    - `way` (think, linear, open): How far?
    - `trips` (guided, self_ask, open): How far?
    - `steps` (sequential, open): a
    ");
}

#[tokio::test]
async fn a_session_is_not_begun_twice() {
    let client = Client::new(builder()).await;
    let budget = json!({"calls": 1});
    let solve = json!({"problem": "?", "strategy": "step_back", "budget": budget});
    for (tool, arguments) in [("reason", json!({"problem": "?"})), ("solve", solve)] {
        let begin = named(&arguments, tool);
        client.accepted(tool, begin.clone()).await;
        let refused = client.refused(tool, begin).await;
        let expected = "already exists; expected another `sessionId`";
        assert_eq!(refused, format!("the session `{tool}` {expected}"));
    }
}

#[tokio::test]
async fn arguments_that_are_too_long_are_refused_and_change_nothing() {
    let limits = ServerLimits {
        argument_bytes: 1_000,
        ..ServerLimits::default()
    };
    for tool in tools() {
        let client = Client::new(builder().with_limits(limits)).await;
        let begun = client.accepted(tool.name, tool.begin).await;

        let next = (tool.next)(&begun);
        let mut long = next.clone();
        let text = if tool.name == "reason" {
            "reply"
        } else {
            "thought"
        };
        long[text] = json!("x".repeat(1_001));
        let refused = client.refused(tool.name, long).await;
        assert!(refused.starts_with("the arguments have 1"), "{refused}");
        assert!(
            refused.ends_with(" bytes; expected at most 1000"),
            "{refused}"
        );

        let on = client.accepted(tool.name, next).await;
        assert!(on.contains(&(tool.place)(2)), "{on}");
    }
}
