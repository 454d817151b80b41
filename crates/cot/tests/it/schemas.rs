//! The JSON Schemas of a reply: what they are, what is valid under them, and how long that can be.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::Reply;
use serde_json::Value;

/// The schema with a line for each entry, in order.
fn pretty(json: &str) -> String {
    let mut text = String::new();
    let mut depth = 0;
    let mut in_string = false;
    let mut escaped = false;
    for c in json.chars() {
        let opens = !in_string && matches!(c, '{' | '[');
        let closes = !in_string && matches!(c, '}' | ']');
        depth = if closes { depth - 1 } else { depth };

        if closes {
            text += &format!("\n{}", "  ".repeat(depth));
        }

        text.push(c);
        if opens {
            depth += 1;
        }

        if opens || !in_string && c == ',' {
            text += &format!("\n{}", "  ".repeat(depth));
        } else if !in_string && c == ':' {
            text.push(' ');
        }

        in_string = in_string != (c == '"' && !escaped);
        escaped = c == '\\' && !escaped;
    }

    text
}

#[test]
fn the_schema_of_a_reply_within_bounds() {
    let schema = Reply::json_schema(20_000);
    insta::assert_snapshot!(pretty(&schema));
}

#[test]
fn the_flat_schema_of_a_reply() {
    insta::assert_snapshot!(pretty(&Reply::flat_json_schema()));
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

fn parsed(schema: &str) -> Value {
    serde_json::from_str(schema).unwrap()
}

#[test]
fn the_longest_reply_fits_the_limit_of_tokens() {
    let step = match std::env::var_os("COGWORK_LONG_TESTS") {
        Some(_) => 331,
        None => 3_319,
    };

    for tokens in (512..60_000_u32)
        .step_by(step)
        .chain([900, 4096, 8192, 1_000_000])
    {
        let schema = Reply::json_schema(tokens);
        let longest = longest(&parsed(&schema));
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
