//! Tool calls of models, and the texts of their results.

use std::time::Duration;

use cogwork_llm::{ToolCall, ToolDefinition};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{Tool, ToolError, Tools, async_trait, function};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct City {
    /// Where.
    city: String,
}

fn tools() -> Tools {
    let weather = |City { city }| async move { Ok(format!("Rain in {city}.")) };
    let broken = |_: Value| async { Err::<String, _>(ToolError::failed("the line is dead")) };
    let slow = |_: Value| async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok(String::new())
    };
    let wild = |input: Value| async move {
        if input.is_object() {
            panic!("at the disco");
        }
        Ok(())
    };
    let long = |_: Value| async { Ok("é".repeat(100)) };
    let wordy = |_: Value| async { Err::<String, _>(ToolError::failed("é".repeat(100))) };

    let tools = Tools::new().with(function("weather", "The weather in a city, now.", weather));
    let tools = tools.unwrap().with(function("broken", "Fails.", broken));
    let tools = tools
        .unwrap()
        .with(function("slow", "Takes an hour.", slow));
    let tools = tools.unwrap().with(function("wild", "Panics.", wild));
    let tools = tools.unwrap().with(function("long", "Says much.", long));
    let tools = tools
        .unwrap()
        .with(function("wordy", "Fails at length.", wordy));
    tools.unwrap().with_max_bytes(41)
}

#[tokio::test(start_paused = true)]
async fn a_model_reads_what_came_or_what_went_wrong() {
    let mut told = Vec::new();
    for (name, arguments) in [
        ("weather", r#"{"city": "Bergen"}"#),
        ("weather", r#"{"town": "Bergen"}"#),
        ("weather", r#"{"city": "#),
        ("weather", ""),
        ("wether", "{"),
        ("broken", "{}"),
        ("slow", "{}"),
        ("wild", "{}"),
        ("long", "{}"),
        ("wordy", "{}"),
        ("long", "[1]"),
        ("no\n\u{1b}[31m", "{}"),
    ] {
        let called = tools().call(&ToolCall::new("1", name, arguments)).await;
        let said = called.unwrap_or_else(|error| format!("error: {error}"));
        told.push(format!("{name:?} with {arguments:?}:\n    {said}"));
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_a_model_is_told_has_the_comments_of_the_fields() {
    let tools = tools();
    let weather = tools.definitions().find(|tool| tool.name() == "weather");
    let weather = weather.unwrap();
    insta::assert_snapshot!(weather.input_schema(), @r#"{"additionalProperties":false,"properties":{"city":{"description":"Where.","type":"string"}},"required":["city"],"type":"object"}"#);
}

struct Named(&'static str, &'static str);

#[async_trait]
impl Tool for Named {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(self.0, "", self.1)
    }

    async fn call(&self, _: Value) -> Result<String, ToolError> {
        Ok(String::new())
    }
}

#[test]
fn a_tool_that_cannot_be_asked_for_is_refused() {
    let tools = Tools::new().with(Named("a", "{}")).unwrap();
    let refused = [
        Named("a", "{}"),
        Named("", "{}"),
        Named("two words", "{}"),
        Named("b", "[]"),
        Named("c", ""),
    ];
    let refused = refused.map(|tool| tools.clone().with(tool).unwrap_err().to_string());
    insta::assert_snapshot!(refused.join("\n"), @"
    there is already a tool `a`; choose another name
    `` is not a valid tool name; expected 1 to 64 letters, digits, `_` and `-`
    `two words` is not a valid tool name; expected 1 to 64 letters, digits, `_` and `-`
    the input schema of the tool `b` is not a JSON object: invalid type: sequence, expected a map at line 1 column 0
    the input schema of the tool `c` is not a JSON object: EOF while parsing a value at line 1 column 0
    ");
}

proptest! {
    #[test]
    fn any_call_gives_a_text_or_an_error(name in ".{0,80}", arguments in ".{0,200}") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let tools = tools();
        let outcome = runtime.block_on(tools.call(&ToolCall::new("1", name.as_str(), arguments)));
        let is_refusal = matches!(outcome, Err(ToolError::Unknown { .. } | ToolError::Input { .. }));
        prop_assert!(is_refusal || tools.names().any(|known| known == name));
    }
}
