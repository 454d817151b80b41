//! Every strategy with replies in JSON, and its questions on each format.

use std::collections::BTreeSet;

use cogwork_llm::{ChatRequest, ReplyFormat};
use cogwork_strategies::{Call, Solved, StrategyName};
use cogwork_typed::ask::Format;
use serde_json::{Value, json};

use super::scripts::{PROBLEM, client, question, replies, schema, solver};
use crate::methods::support::told;

async fn run(name: StrategyName, format: Format) -> (Solved, Vec<ChatRequest>) {
    let client = client(replies(name));
    let solver = solver(name, client.clone()).with_format(format);
    let solved = solver.solve(PROBLEM).await;

    let solved = solved.unwrap_or_else(|error| panic!("{name} on {format}: {error:#}"));
    (solved, client.requests())
}

#[tokio::test]
async fn every_strategy_ends_with_replies_in_json_on_every_format() {
    for name in StrategyName::ALL {
        for format in Format::ALL {
            // In lines, the plan, and the choice between a question and the answer, have other
            // fields.
            let differs = [StrategyName::Rewoo, StrategyName::SelfAsk].contains(&name);
            if differs && format == Format::Text {
                continue;
            }

            let (solved, requests) = run(name, format).await;
            assert_eq!(solved.answer(), Some("51"), "{name} on {format}");
            assert!(solved.is_answered(), "{name} on {format}");
            assert_eq!(requests.len(), replies(name).len(), "{name} on {format}");

            for call in solved.trace().calls() {
                if let Call::Model(asked) = call {
                    let repairs = asked.reply.as_ref().map(|reply| reply.repairs.len());
                    assert_eq!((repairs, asked.log.format), (Ok(0), format), "{name}");
                    assert!(asked.log.refusals.is_empty(), "{name}");
                }
            }
        }
    }
}

/// Checks what OpenAI's strict mode requires of a schema, and that it has no bounds.
fn assert_strict(schema: &Value) {
    let refused = "$ref $defs oneOf allOf not maxLength minLength maxItems minItems";
    for keyword in refused.split(' ') {
        assert_eq!(schema.get(keyword), None, "{schema}");
    }

    let properties = schema["properties"].as_object();
    if let Some(properties) = properties {
        let required = schema["required"].as_array().unwrap().iter();
        let required: BTreeSet<_> = required.filter_map(Value::as_str).collect();
        let names = properties.keys().map(String::as_str).collect();
        assert_eq!(required, names);
        assert_eq!(schema["additionalProperties"], false);
    }

    let parts = properties
        .into_iter()
        .flat_map(|properties| properties.values());
    let parts = parts.chain(schema.get("items"));
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    parts.chain(choices).for_each(assert_strict);
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
                if format == Format::FlatSchema {
                    assert_strict(&schema(&request).unwrap());
                }

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
    let end = r#"{"thought": "t", "thoughts_needed": 1, "next": "hypothesis_generation"}"#;
    let rest = replies(StrategyName::Linear).into_iter().skip(5);
    let linear = client([outline, same, more, same, end].into_iter().chain(rest));
    let solved = solver(StrategyName::Linear, linear.clone())
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("51"));
    let requests = linear.requests();
    let ways = allowed(&requests[2], "next");
    assert_eq!(ways.as_array().map(Vec::len), Some(4));
    assert_eq!(
        allowed(&requests[4], "next"),
        json!(["hypothesis_generation"])
    );
}
