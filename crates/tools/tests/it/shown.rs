//! Texts from models and tools are always shown safely.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use std::future::ready;

use cogwork_llm::{ToolCall, ToolDefinition};
use cogwork_tools::{Tool, ToolError, Tools, async_trait, function};
use hostile::{assert_lines_are_safe, texts};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn nothing_unsafe_is_shown() {
    for text in texts() {
        assert_lines_are_safe(&ToolError::Unavailable {
            tool: text.clone(),
            problem: text.clone(),
        });
        show_registries(&text);
        show_calls(&text).await;
    }
}

/// A tool with a text for its name and for its schema.
struct Odd(ToolDefinition);

#[async_trait]
impl Tool for Odd {
    fn definition(&self) -> ToolDefinition {
        self.0.clone()
    }

    async fn call(&self, _: Value) -> Result<String, ToolError> {
        Ok(String::new())
    }
}

fn show_registries(text: &str) {
    let named = ToolDefinition::new(text, "d", "{}");
    let typed = ToolDefinition::new("name", "d", text);

    for definition in [named, typed] {
        if let Err(error) = Tools::new().with(Odd(definition)) {
            assert_lines_are_safe(&error);
        }
    }
}

/// Typed functions, which fail with what serde says of their input, or with words of their own.
async fn show_calls(text: &str) {
    let words = text.to_owned();
    let fails = move |_: Value| ready(Err::<String, _>(ToolError::failed(words.clone())));
    let typed = |_: Kind| async { Ok(String::new()) };
    let tools = Tools::new().with(function("typed", "d", typed)).unwrap();
    let tools = tools.with(function("fails", "d", fails)).unwrap();

    let input = json!({ "kind": text }).to_string();
    for (name, input) in [
        ("typed", &*input),
        ("typed", text),
        ("fails", "{}"),
        (text, "{}"),
    ] {
        if let Err(error) = tools.call(&ToolCall::new("1", name, input)).await {
            assert_lines_are_safe(&error);
        }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "no input fits")]
struct Kind {
    kind: One,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
enum One {
    Only,
}
