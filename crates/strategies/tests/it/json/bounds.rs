//! The longest reply of a schema fits into the maximum number of tokens.

use cogwork_llm::ChatRequest;
use cogwork_strategies::StrategyName;
use serde_json::{Map, Value, json};

use super::scripts::{PROBLEM, client, replies, schema, solver};

/// Returns the longest value of a schema.
fn longest(schema: &Value) -> Value {
    if let Some(choices) = schema["enum"].as_array() {
        let longest = choices.iter().max_by_key(|choice| choice.to_string().len());
        return longest.cloned().unwrap();
    }

    if let Some(schemas) = schema["anyOf"].as_array() {
        let values = schemas.iter().map(longest);
        return values.max_by_key(tokens).unwrap();
    }

    match schema["type"].as_str().unwrap() {
        "string" => {
            let length = schema["maxLength"].as_u64().expect("a text has a bound");
            Value::from("x".repeat(usize::try_from(length).unwrap()))
        }
        "array" => {
            let items = schema["maxItems"].as_u64().expect("a list has a bound");
            let item = longest(&schema["items"]);
            (0..items).map(|_| item.clone()).collect()
        }
        "object" => {
            let properties = schema["properties"].as_object().unwrap();
            let longest = |(name, schema): (&String, &Value)| (name.clone(), longest(schema));
            properties.iter().map(longest).collect::<Map<_, _>>().into()
        }
        "integer" => json!(1_234_567_890_i64),
        "number" => json!(12_345.678),
        "boolean" => json!(false),
        _ => Value::Null,
    }
}

/// Returns a pessimistic number of tokens: one for each character of a text, and one for three
/// other characters.
fn tokens(value: &Value) -> usize {
    let written = serde_json::to_string_pretty(value).unwrap();
    let in_texts = texts(value);
    in_texts + (written.len() - in_texts).div_ceil(3)
}

fn texts(value: &Value) -> usize {
    match value {
        Value::String(text) if text.starts_with("xx") => text.len(),
        Value::Array(items) => items.iter().map(texts).sum(),
        Value::Object(object) => object.values().map(texts).sum(),
        _ => 0,
    }
}

#[tokio::test]
async fn the_longest_reply_fits_into_the_maximum_number_of_tokens() {
    for name in StrategyName::ALL {
        for max_tokens in [300, 500, 700, 2_000, 8_192] {
            let client = client(replies(name));
            let request = ChatRequest::default().with_max_tokens(max_tokens);
            let solver = solver(name, client.clone()).with_request(request);
            solver.solve(PROBLEM).await.unwrap();

            for request in client.requests() {
                let schema = schema(&request).unwrap();
                // Some forms don't fit into so few tokens.
                if max_tokens < 700 && !schema.to_string().contains("maxLength") {
                    continue;
                }

                let longest = tokens(&longest(&schema));
                let most = usize::try_from(max_tokens).unwrap();
                assert!(longest <= most, "{name}: {longest} of {most} in {schema}");
            }
        }
    }
}
