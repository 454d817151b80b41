//! Modes by name, with settings that nobody vouches for.

use cogwork_thinking::{Hook, Registry, ThinkingMode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

fn refused(name: &str, settings: Value) -> String {
    match Registry::with_built_in().build(name, &settings) {
        Ok(_) => panic!("{settings} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_built_in_modes_are_listed_with_their_settings() {
    let registry = Registry::with_built_in();
    assert_eq!(registry.iter().count(), 5);
    for mode in registry.schema()["oneOf"].as_array().unwrap() {
        let name = mode["properties"]["type"]["const"].as_str().unwrap();
        insta::assert_json_snapshot!(name, mode);
    }
}

#[test]
fn what_is_wrong_is_told_with_its_path() {
    insta::assert_snapshot!(refused("reflexion", json!({})), @"`type`: unknown thinking mode `reflexion`; expected `best_of`, `critique`, `plan_first`, `reflection` or `verification`");
    insta::assert_snapshot!(refused("critique", json!({"criteria": ["short", 7]})), @"`config.criteria[1]`: invalid type: integer `7`, expected a string");
    insta::assert_snapshot!(refused("plan_first", json!({"plan_promt": "?"})), @"`config.plan_promt`: unknown field `plan_promt`, expected `plan_prompt`");
    insta::assert_snapshot!(refused("reflection", json!({"rounds": 1})), @"`config`: missing field `reflection_prompt`");
}

#[derive(Deserialize, JsonSchema)]
struct Tone {
    tone: String,
}

impl ThinkingMode for Tone {
    fn hooks(&self) -> &[Hook] {
        &[Hook::After]
    }
}

#[test]
fn names_are_taken_once_and_a_factory_may_refuse() {
    let mut registry = Registry::with_built_in();
    let factory = |settings: Tone| match settings.tone.as_str() {
        "rude" => Err("`rude` is no tone; expected a kind one".to_owned()),
        _ => Ok(settings),
    };
    registry
        .register::<Tone, Tone>("tone", "Sets the tone", factory)
        .unwrap();

    let taken = registry.register::<Tone, Tone>("reflection", "Another one", Ok);
    insta::assert_snapshot!(taken.unwrap_err(), @"the thinking mode `reflection` already exists; known thinking modes: `best_of`, `critique`, `plan_first`, `reflection`, `tone` and `verification`; choose another name");

    let invalid = registry.register::<Tone, Tone>("no name", "", Ok);
    insta::assert_snapshot!(invalid.unwrap_err(), @"`no name` is not a valid name of a thinking mode; expected 1 to 64 letters, digits, `_` and `-`");

    let rude = registry.build("tone", &json!({"tone": "rude"})).err();
    insta::assert_snapshot!(rude.unwrap(), @"`config`: `rude` is no tone; expected a kind one");
    assert!(registry.build("tone", &json!({"tone": "kind"})).is_ok());
}
