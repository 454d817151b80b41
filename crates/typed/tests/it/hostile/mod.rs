//! Replies that are meant to break the reader, by class. Whatever is read was meant.

mod forms;
mod places;
mod values;

use std::fmt::Debug;

use cogwork_typed::AnswerReader;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Returns the value with its repairs, or the problem.
pub(crate) fn read<T: JsonSchema + DeserializeOwned>(
    text: &str,
) -> Result<(T, Vec<String>), String> {
    match AnswerReader::<T>::new().read(text) {
        Ok(read) => Ok((
            read.value,
            read.repairs.iter().map(ToString::to_string).collect(),
        )),
        Err(problem) => Err(problem.to_string()),
    }
}

fn refusal<T: JsonSchema + DeserializeOwned + Debug>(text: &str) -> String {
    read::<T>(text).unwrap_err()
}

/// Returns the schema of an answer, or of its key `answer`.
fn schema<T: JsonSchema + DeserializeOwned>() -> Value {
    let schema: Value = serde_json::from_str(&AnswerReader::<T>::new().schema()).unwrap();
    match schema["properties"].get("answer") {
        Some(answer) => answer.clone(),
        None => schema,
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

/// A list may be taken for its only item, again and again.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Nested {
    Number(f64),
    List(Vec<Nested>),
    Named { name: String },
}

#[test]
fn deep_replies_are_refused_instead_of_overflowing_the_stack() {
    for depth in [200, 1_000, 100_000] {
        let lists = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let open = "[".repeat(depth);
        let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        let trees = format!(
            "{}{}",
            r#"{"name":"a","children":["#.repeat(depth.min(10_000)),
            "]}".repeat(depth.min(10_000))
        );
        let flow = format!("children: {lists}");

        for reply in [lists, open, objects, trees, flow] {
            let problem = AnswerReader::<Tree>::new().read(&reply).unwrap_err();
            assert!(!problem.message().is_empty());
            let problem = AnswerReader::<Nested>::new().read(&reply).unwrap_err();
            assert!(!problem.message().is_empty());
            let problem = AnswerReader::<Value>::new().read(&reply).unwrap_err();
            assert!(problem.to_string().contains("line 1"), "{problem}");
        }
    }

    let levels = 30;
    let tree = format!(
        "{}{}",
        r#"{"name":"a","children":["#.repeat(levels),
        "]}".repeat(levels)
    );
    assert!(read::<Tree>(&tree).is_ok());
}

#[test]
fn long_replies_do_not_deepen_types_that_contain_themselves() {
    let numbers = vec!["1"; 50_000].join(",");
    let reply = format!("{{\"answer\": {{\"name\": [], \"more\": [{numbers}]}}}}");

    assert!(refusal::<Nested>(&reply).contains("`/answer/name`"));
    assert_eq!(
        read::<Nested>(r#"{"name": "a"}"#).unwrap().0,
        Nested::Named {
            name: "a".to_owned()
        }
    );
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Point {
    x: u8,
    y: Option<u8>,
}
