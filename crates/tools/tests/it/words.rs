//! Texts about typed inputs and outputs use the terms of JSON.

use std::collections::BTreeMap;

use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{Tools, function};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Inner {
    amount: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only read")]
enum Unit {
    Metre,
    Foot,
    Other(String),
}

/// Returns what a model reads if it gives `input` to a tool that takes an `A`.
async fn told<A: DeserializeOwned + JsonSchema + Send + 'static>(input: Value) -> String {
    let take = function("take", "", |_: A| async { Ok(()) });
    let tools = Tools::new().with(take).unwrap();
    let error = tools.call_with("take", None, input).await.unwrap_err();

    let told = error.to_string();
    told.strip_prefix("bad input for the tool `take`: ")
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn wrong_inputs_are_described_in_the_words_of_json() {
    let told = [
        told::<f64>(json!("one")).await,
        told::<u8>(json!(-1)).await,
        told::<String>(json!(["a"])).await,
        told::<char>(json!("ab")).await,
        told::<Vec<f64>>(json!(1)).await,
        told::<Vec<f64>>(json!([1, {"a": 1}])).await,
        told::<(f64, f64)>(json!([1])).await,
        told::<[u8; 3]>(json!([1, 2])).await,
        told::<Inner>(json!("a, expected b")).await,
        told::<Inner>(json!({})).await,
        told::<Inner>(json!({"amount": 3, "unit": "m"})).await,
        told::<BTreeMap<String, u8>>(json!([])).await,
        told::<Unit>(json!("mile")).await,
        told::<Unit>(json!(3)).await,
        told::<()>(json!("a")).await,
    ];

    insta::assert_snapshot!(told.join("\n"), @r#"
    found the string "one"; expected a number
    found the number -1; expected a whole number from 0 to 255
    found an array; expected a string
    found the string "ab"; expected a character
    found the number 1; expected an array
    found an object; expected a number
    found a length of 1; expected an array of length 2
    found a length of 2; expected an array of length 3
    found the string "a, expected b"; expected an object
    missing field `amount`
    unknown field `unit`, expected `amount`
    found an array; expected an object
    unknown value `mile`; expected one of `metre`, `foot`, `other`
    found the number 3; expected a string or an object
    found the string "a"; expected null
    "#);
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Yes,
    Weather { degrees: f64, city: String },
}

/// Returns what a model reads of an output.
async fn read<T: Serialize + Clone + Send + Sync + 'static>(output: T) -> String {
    let give = function("give", "", move |_: Value| {
        let output = output.clone();
        async move { Ok(output) }
    });
    let tools = Tools::new().with(give).unwrap();

    match tools.call_with("give", None, json!({})).await {
        Ok(text) => text,
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_tool_returns_anything_that_can_be_serialised() {
    let weather = Answer::Weather {
        degrees: 8.5,
        city: "Bergen".to_owned(),
    };

    let told = [
        read("a \"text\"\nas it is".to_owned()).await,
        read("borrowed").await,
        read(6.5).await,
        read(vec![1, 2]).await,
        read(Answer::Yes).await,
        read(weather).await,
        read(()).await,
    ];
    insta::assert_snapshot!(told.join("\n"), @r#"
    a "text"
    as it is
    borrowed
    6.5
    [1,2]
    yes
    {"weather":{"degrees":8.5,"city":"Bergen"}}
    null
    "#);
}

#[tokio::test]
async fn an_output_that_json_cannot_hold_is_an_error_of_the_tool() {
    let pairs: BTreeMap<(u8, u8), u8> = BTreeMap::from([((1, 2), 3)]);
    let told = read(pairs).await;
    insta::assert_snapshot!(told, @"the tool `give` failed: its result cannot be written as JSON: key must be a string");
}
