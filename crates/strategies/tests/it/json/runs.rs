//! Every strategy with replies in JSON, and its questions on each format.

use cogwork_llm::{ChatRequest, ReplyFormat};
use cogwork_strategies::{Solving, StrategyName};
use cogwork_typed::ask::Format;
use serde_json::{Value, json};

use super::scripts::{PROBLEM, client, question, replies, schema, solver};
use crate::methods::support::told;

async fn run(name: StrategyName, format: Format) -> (Solving, Vec<ChatRequest>) {
    let client = client(replies(name));
    let solver = solver(name, client.clone()).with_format(format);
    let solved = solver.solve(PROBLEM).await;

    let solved = solved.unwrap_or_else(|error| panic!("{name} on {format}: {error:#}"));
    assert_eq!(solved.answer(), Some("51"), "{name} on {format}");
    (solved, client.requests())
}

#[tokio::test]
async fn schemas_prompts_and_thoughts() {
    for name in StrategyName::ALL {
        let mut shown = String::new();

        for format in Format::ALL.into_iter().filter(|format| format.is_json()) {
            let (solved, requests) = run(name, format).await;
            if format == Format::Schema {
                shown += &told(&solved);
            }

            shown += &format!("\n\n===== {format}\n");
            for request in requests {
                shown += &format!("\n--- {}\n", question(&request));
                shown += &match request.format() {
                    Some(ReplyFormat::Schema { schema, .. }) => schema.to_string(),
                    other => format!("{other:?}"),
                };
                shown.push('\n');
            }
        }

        insta::assert_snapshot!(format!("json_{name}"), shown);
    }
}

/// Returns what the schema of a request allows for a key.
fn allowed(request: &ChatRequest, key: &str) -> Value {
    schema(request).unwrap()["properties"][key]["enum"].clone()
}

/// Otherwise, it would repeat itself until the run is stopped without an answer.
#[tokio::test]
async fn a_model_that_repeats_itself_can_only_conclude() {
    let same = r#"{"thought": "t", "action": "double", "action_input": "17"}"#;
    let end = r#"{"thought": "t", "action": "finish", "action_input": "51"}"#;
    let react = client([same, same, end]);
    let solved = solver(StrategyName::React, react.clone())
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("51"));
    let requests = react.requests();
    assert_eq!(allowed(&requests[1], "action"), json!(["double", "finish"]));
    assert_eq!(allowed(&requests[2], "action"), json!(["finish"]));

    let outline = r#"{"thought": "t", "thoughts_needed": 3}"#;
    let same = r#"{"thought": "I add."}"#;
    let more = r#"{"thought": "t", "thoughts_needed": 1, "next": "thought_adjustment"}"#;
    let rest = replies(StrategyName::Linear).into_iter().skip(5);
    // A hypothesis is next, whatever the model says.
    let linear = client([outline, same, more, same, more].into_iter().chain(rest));
    let solved = solver(StrategyName::Linear, linear)
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("51"));
}
