//! The texts that servers and models read.

use std::collections::BTreeMap;

use cogwork_typed::AnswerReader;
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::Deserialize;

/// A person in a résumé.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only described")]
struct Person {
    /// The full name.
    name: String,
    #[schemars(range(min = 0, max = 150))]
    age: u8,
    email: Option<String>,
    #[serde(default)]
    skills: Vec<Skill>,
    contact: Contact,
    employer: Option<Employer>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only described")]
struct Skill {
    name: String,
    level: Level,
}

#[derive(Deserialize, JsonSchema)]
enum Level {
    /// Has read about it.
    Beginner,
    /// Uses it every day.
    Expert,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
#[allow(dead_code, reason = "only described")]
enum Contact {
    Phone { number: String },
    Mail { street: String, city: String },
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only described")]
struct Employer {
    name: String,
    manager: Option<Box<Employer>>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only described")]
struct Flat {
    name: String,
    #[schemars(range(min = 1, max = 5))]
    stars: u8,
    note: Option<String>,
    level: Level,
    skills: Vec<Skill>,
}

fn json(schema: &str) -> serde_json::Value {
    serde_json::from_str(schema).unwrap()
}

#[test]
fn the_schema_of_a_nested_type_keeps_bounds_and_recursion() {
    let reader = AnswerReader::<Person>::new();

    assert_snapshot!(serde_json::to_string_pretty(&json(&reader.schema())).unwrap());
}

#[test]
fn a_flat_schema_has_what_strict_servers_accept() {
    let reader = AnswerReader::<Flat>::new();

    assert_snapshot!(
        serde_json::to_string_pretty(&json(&reader.flat_schema().unwrap().to_string())).unwrap()
    );
    assert!(reader.schema().contains("\"maximum\":5"));
}

#[test]
fn a_type_that_is_no_object_is_wrapped() {
    let of = |schema: String| json(&schema)["properties"]["answer"].clone();

    let list = of(AnswerReader::<Vec<String>>::new().schema());
    assert_eq!(list["type"], "array");
    let level = of(AnswerReader::<Level>::new().schema());
    assert_eq!(level["enum"][1], "Expert");
    let map = AnswerReader::<BTreeMap<String, u8>>::new();
    assert!(map.flat_schema().is_none());
}

#[test]
fn the_keys_are_described_to_the_model() {
    assert_snapshot!(AnswerReader::<Person>::new().description());
    assert_snapshot!(AnswerReader::<Vec<Skill>>::new().description());
    assert_snapshot!(AnswerReader::<bool>::new().description(), @"- answer (true or false)");
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only described")]
struct Author {
    name: String,
    book: Option<Box<Book>>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only described")]
struct Book {
    title: String,
    author: Option<Box<Author>>,
}

#[test]
fn types_that_contain_each_other_have_few_levels() {
    let reader = AnswerReader::<Author>::new();
    for schema in [reader.flat_schema(), reader.schema_within(1000)] {
        let schema = schema.unwrap().to_string();
        assert!(schema.contains("\"title\":{"));
        assert!(!schema.contains("$ref"));
    }
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only described")]
struct Part {
    name: String,
    state: PartState,
    parts: Vec<Part>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only described")]
enum PartState {
    New,
    Used,
    Other(String),
}

#[test]
fn a_tree_ends_with_empty_lists_and_every_form_is_named() {
    let reader = AnswerReader::<Part>::new();
    let flat = reader.flat_schema().unwrap().to_string();
    assert_eq!(flat.matches("\"parts\":{").count(), 4);
    assert!(flat.contains("\"parts\":{\"type\":\"array\",\"items\":{\"type\":\"null\"}}"));

    let leaf = r#"{"name": "a", "state": "New", "parts": [null]}"#;
    let read = reader.read(leaf).unwrap();
    assert!(read.value.parts.is_empty());
    assert_eq!(
        read.repairs[0].to_string(),
        "line 1: `/parts`: left out the nulls of a list"
    );
    assert!(reader.read(&leaf.replace("null", "null, 1")).is_err());

    let numbers = AnswerReader::<Vec<f64>>::new().schema_within(1000).unwrap();
    assert!(numbers.to_string().contains("\"maxItems\":10"));

    let description = reader.description();
    assert!(
        description.contains("state (one of New, Used or an object)"),
        "{description}"
    );
}
