//! Typed answers.

use std::collections::BTreeMap;
use std::fmt::Debug;

use cogwork_typed::AnswerReader;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Parcel {
    name: String,
    count: u32,
    share: f64,
    state: State,
    tags: Vec<String>,
    other: Option<Value>,
    children: Vec<Parcel>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    New,
    InTransit,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Event {
    Created,
    Moved { by: Vec<i32> },
}

type Counts = BTreeMap<String, Option<i64>>;

/// Replies as answers of several types: a value that is read, written as JSON, is read again
/// without a repair, and a refusal names a line of the reply.
///
/// # Panics
///
/// Where that does not hold.
pub fn typed_answer(data: &[u8]) {
    let text = String::from_utf8_lossy(data);

    check::<Parcel>(&text);
    check::<Event>(&text);
    check::<Counts>(&text);
    check::<Vec<State>>(&text);
    check::<bool>(&text);
}

fn check<T>(text: &str)
where
    T: Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema,
{
    let reader = AnswerReader::<T>::new();
    let read = match reader.read(text) {
        Ok(read) => read,
        Err(problem) => {
            // Of YAML, `\r` ends a line, too.
            let lines = text.split(['\n', '\r']).count();
            assert!((1..=lines).contains(&problem.line()), "{problem}: {text}");
            return;
        }
    };

    let value = serde_json::to_value(&read.value).unwrap_or_default();
    let is_wrapped = reader.schema().contains("\"answer\"");
    let written = if is_wrapped {
        serde_json::json!({ "answer": value })
    } else {
        value
    };

    let again = reader.read(&written.to_string());
    let again = again.map(|again| (again.value, again.repairs.len()));
    assert_eq!(again, Ok((read.value, 0)), "{text}");
}

/// Reads a text as an answer of each type.
pub(crate) fn read_each(text: &str) {
    read::<Parcel>(text);
    read::<Event>(text);
    read::<Counts>(text);
}

fn read<T: DeserializeOwned + JsonSchema>(text: &str) {
    let reader = AnswerReader::<T>::new();
    drop(reader.read(text));
}
