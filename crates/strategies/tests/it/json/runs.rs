//! Every strategy with replies in JSON, and its questions on each format.

use cogwork_llm::{ChatRequest, ReplyFormat};
use cogwork_strategies::{
    Asked, Call, Format, Parameter, ParameterType, Scratchpad, Solved, Solver, StrategyName,
};
use serde_json::{Value, json};

use super::scripts::{PROBLEM, client, question, replies, schema, solver};
use crate::methods::support::{only_append, told};

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
            // In lines, the calls of a plan have another form.
            if name == StrategyName::Rewoo && format == Format::Text {
                continue;
            }

            // The choice between a question and the answer has other fields, too.
            if name == StrategyName::SelfAsk && format == Format::Text {
                continue;
            }

            let (solved, requests) = run(name, format).await;
            assert_eq!(solved.answer(), Some("51"), "{name} on {format}");
            assert!(solved.is_answered(), "{name} on {format}");
            assert_eq!(requests.len(), replies(name).len(), "{name} on {format}");

            for call in solved.trace().calls() {
                let Call::Model(Asked {
                    format: asked,
                    repairs,
                    refusals,
                    ..
                }) = call
                else {
                    continue;
                };
                assert_eq!(*asked, format, "{name}");
                assert_eq!(*repairs, [], "{name} on {format}");
                assert_eq!(*refusals, [], "{name} on {format}");
            }
        }
    }
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

#[tokio::test]
async fn the_conversation_holds_the_replies_as_they_were_written() {
    let appending = [
        StrategyName::Linear,
        StrategyName::ChainOfThought,
        StrategyName::React,
        StrategyName::Rewoo,
        StrategyName::SelfAsk,
        StrategyName::StepBack,
    ];

    for name in appending {
        let (_, requests) = run(name, Format::Schema).await;
        assert!(only_append(&requests), "{name}");

        let last = requests.last().unwrap();
        let said: Vec<&str> = last
            .messages()
            .iter()
            .filter(|message| message.role() == cogwork_llm::Role::Assistant)
            .map(|message| message.text())
            .collect();
        let replies = replies(name);
        assert_eq!(said, replies[..replies.len() - 1], "{name}");
    }
}

/// Checks what OpenAI's strict mode requires of a schema.
fn assert_strict(schema: &Value, place: &str) {
    match schema {
        Value::Object(object) => {
            for keyword in ["$ref", "$defs", "oneOf", "allOf", "not"] {
                assert!(!object.contains_key(keyword), "{place}: {keyword}");
            }

            if let Some(properties) = object.get("properties").and_then(Value::as_object) {
                let required = object["required"].as_array().unwrap();
                assert_eq!(object["additionalProperties"], false, "{place}");
                assert_eq!(required.len(), properties.len(), "{place}");
                for name in required {
                    assert!(properties.contains_key(name.as_str().unwrap()), "{place}");
                }
            }

            for (key, value) in object {
                assert_strict(value, &format!("{place}.{key}"));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| assert_strict(item, place)),
        _ => {}
    }
}

#[tokio::test]
async fn flat_schemas_are_strict_and_have_no_bounds() {
    for name in StrategyName::ALL {
        let (_, requests) = run(name, Format::FlatSchema).await;
        for request in requests {
            let schema = schema(&request).unwrap();
            assert_strict(&schema, name.as_str());

            let written = schema.to_string();
            for bound in ["maxLength", "minLength", "maxItems", "minItems"] {
                assert!(!written.contains(bound), "{name}: {written}");
            }
        }
    }
}

/// Returns what the schema of a request allows for a key.
fn allowed(request: &ChatRequest, key: &str) -> Value {
    schema(request).unwrap()["properties"][key]["enum"].clone()
}

/// Otherwise, it would repeat itself until the run is stopped without an answer.
#[tokio::test]
async fn a_model_that_repeats_an_action_can_only_finish() {
    let same = r#"{"thought": "t", "action": "double", "action_input": "17"}"#;
    let end = r#"{"thought": "t", "action": "finish", "action_input": "51"}"#;
    let client = client([same, same, end]);

    let solver = solver(StrategyName::React, client.clone());
    let solved = solver.solve(PROBLEM).await.unwrap();

    let requests = client.requests();
    assert_eq!(allowed(&requests[1], "action"), json!(["double", "finish"]));
    assert_eq!(allowed(&requests[2], "action"), json!(["finish"]));
    assert_eq!(solved.answer(), Some("51"));
}

#[tokio::test]
async fn a_model_that_repeats_a_thought_can_only_conclude() {
    let outline = r#"{"thought": "t", "thoughts_needed": 3}"#;
    let same = r#"{"thought": "I add."}"#;
    let more = r#"{"thought": "t", "thoughts_needed": 1, "next": "thought_adjustment"}"#;
    let conclude = r#"{"thought": "t", "thoughts_needed": 1, "next": "hypothesis_generation"}"#;
    let rest = &replies(StrategyName::Linear)[5..];
    let client = client(
        [outline, same, more, same, conclude]
            .iter()
            .chain(rest)
            .copied(),
    );

    let solver = solver(StrategyName::Linear, client.clone());
    let solved = solver.solve(PROBLEM).await.unwrap();

    let requests = client.requests();
    assert_eq!(
        allowed(&requests[2], "next").as_array().map(Vec::len),
        Some(4)
    );
    assert_eq!(
        allowed(&requests[4], "next"),
        json!(["hypothesis_generation"])
    );
    assert_eq!(solved.answer(), Some("51"));
}

#[tokio::test]
async fn a_scratchpad_with_variables_names_them_in_the_schema() {
    let number = || ParameterType::Number {
        min: None,
        max: None,
    };
    let driver = Scratchpad {
        variables: vec![
            ("sum".to_owned(), Parameter::new(number(), "the sum so far")),
            ("left".to_owned(), Parameter::new(number(), "")),
        ],
        result: Some("sum".to_owned()),
        ..Scratchpad::default()
    };

    let client = client([
        r#"{"thought": "t", "state_variables": {"left": 3, "sum": null}}"#,
        r#"{"thought": "t", "state_variables": [{"name": "sum", "value": 51}], "done": true}"#,
    ]);
    let solved = Solver::new(client.clone(), driver)
        .solve(PROBLEM)
        .await
        .unwrap();

    let variables = |request| {
        let schema = schema(request).unwrap();
        schema["properties"]["state_variables"].to_string()
    };
    let requests = client.requests();
    insta::assert_snapshot!(variables(&requests[0]), @r#"{"additionalProperties":false,"description":"the variables and their values","properties":{"left":{"anyOf":[{"type":"number"},{"type":"null"}]},"sum":{"anyOf":[{"type":"number"},{"type":"null"}],"description":"the sum so far"}},"required":["left","sum"],"type":"object"}"#);
    insta::assert_snapshot!(variables(&requests[1]), @r#"{"anyOf":[{"items":{"additionalProperties":false,"properties":{"name":{"enum":["sum","left"],"type":"string"},"value":{"anyOf":[{"maxLength":200,"minLength":1,"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"null"}]}},"required":["name","value"],"type":"object"},"maxItems":10,"type":"array"},{"type":"null"}],"description":"the variables that the step changes, with their new values"}"#);
    assert_eq!(solved.answer(), Some("51"));
}
