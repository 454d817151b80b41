//! The JSON Schemas of a reply: what they are, what is valid under them, and how long that can be.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_llm::{ChatRequest, ReplyFormat, ScriptedClient};
use cogwork_typed::ask::Format;
use serde_json::Value;

/// The schema of a reply of at most so many tokens.
async fn schema(format: Format, tokens: u32) -> String {
    let client = ScriptedClient::default();
    let node = ChainOfThought::new(client.clone())
        .with_format(format)
        .with_request(ChatRequest::default().with_max_tokens(tokens));
    let ended = node.into_flow().run(&mut Reasoning::new("?")).await;
    ended.expect_err("the script is empty");

    match client.requests()[0].format() {
        Some(ReplyFormat::Schema { schema, .. }) => schema.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The schema with a line for each key.
fn pretty(json: &str) -> String {
    json.replace(",\"", ",\n\"").replace("{\"", "{\n\"")
}

#[tokio::test]
async fn the_schema_of_a_reply_within_bounds() {
    insta::assert_snapshot!(pretty(&schema(Format::Schema, 20_000).await));
}

#[tokio::test]
async fn the_flat_schema_of_a_reply() {
    insta::assert_snapshot!(pretty(&schema(Format::FlatSchema, 20_000).await));
}

/// The longest value of a schema.
fn longest(schema: &Value) -> Value {
    let bound = |key: &str| usize::try_from(schema[key].as_u64().unwrap()).unwrap();

    if let Some(options) = schema.get("anyOf") {
        return longest(&options[0]);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.last().unwrap().clone();
    }
    match schema["type"].as_str().unwrap() {
        "string" => "#".repeat(bound("maxLength")).into(),
        "boolean" => false.into(),
        "array" => vec![longest(&schema["items"]); bound("maxItems")].into(),
        _ => {
            let properties = schema["properties"].as_object().unwrap().iter();
            properties
                .map(|(name, schema)| (name.clone(), longest(schema)))
                .collect()
        }
    }
}

#[tokio::test]
async fn the_longest_reply_fits_the_limit_of_tokens() {
    let step = match std::env::var_os("COGWORK_LONG_TESTS") {
        Some(_) => 331,
        None => 3_319,
    };

    for tokens in (512..60_000_u32)
        .step_by(step)
        .chain([900, 4096, 8192, 1_000_000])
    {
        let schema = schema(Format::Schema, tokens).await;
        let longest = longest(&serde_json::from_str(&schema).unwrap());
        // A token for each character of a text, and for three of the characters around them.
        let text = serde_json::to_string_pretty(&longest).unwrap();
        let of_texts = text.matches('#').count();
        let around = text.len() - of_texts;
        let longest = of_texts + around.div_ceil(3);
        assert!(longest <= tokens as usize, "{tokens}: {longest}");

        // llama.cpp takes no bound of 2,000.
        assert!(!schema.contains(r#""maxLength":2000"#), "{tokens}");
    }
}
