//! Outputs of typed functions as text.

use std::collections::BTreeMap;

use cogwork_tools::{Tools, function};
use serde::Serialize;
use serde_json::{Value, json};

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
