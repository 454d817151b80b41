//! Modes by name, with settings that nobody vouches for.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use cogwork_llm::{ChatRequest, LlmClient, Message, ScriptedClient};
use cogwork_thinking::{Hooks, ModeBuildError, PathPart, Registry, Thinking, ThinkingMode};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

fn refused(name: &str, settings: Value) -> String {
    match Registry::with_built_in().build(name, &settings) {
        Ok(_) => panic!("{settings} was accepted"),
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn the_built_in_modes_are_listed_with_their_settings() {
    let registry = Registry::with_built_in();
    insta::assert_snapshot!(registry, @r"
    best_of       A judge picks the best of several answers
    critique      The model judges its draft against criteria and revises it
    plan_first    The model plans its answer first
    reflection    The model reflects on its draft and improves it
    verification  Facts in the draft are verified by independent questions
    ");

    for mode in registry.schema()["oneOf"].as_array().unwrap() {
        let name = mode["properties"]["type"]["const"].as_str().unwrap();
        insta::assert_json_snapshot!(name, mode);
    }
}

#[test]
fn a_choice_of_mode_has_a_schema() {
    let schema = Registry::with_built_in().schema();
    let reflection = schema["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["properties"]["type"]["const"] == "reflection");

    assert_eq!(reflection.unwrap()["required"], json!(["type", "config"]));
    let plan_first = &schema["oneOf"][2];
    assert_eq!(plan_first["required"], json!(["type"]));
}

#[tokio::test]
async fn a_mode_is_built_of_its_settings() {
    let settings = json!({
        "reflection_prompt": "Look again.", "rounds": 3, "verdict": "FINE", "score": null, "on_failure": "try_again",
    });
    let mode = Registry::with_built_in()
        .build("reflection", &settings)
        .unwrap();
    let script = ScriptedClient::new(["1", "2", "FINE"]);
    let client = Thinking::new(script.clone()).with_mode(mode);
    let response = client
        .complete(ChatRequest::new([Message::user("?")]))
        .await
        .unwrap();

    assert_eq!((response.text(), script.requests().len()), ("2", 3));
}

#[test]
fn no_settings_are_enough_where_all_have_a_default() {
    let registry = Registry::with_built_in();
    for name in ["plan_first", "verification", "best_of"] {
        assert_eq!(registry.build(name, &Value::Null).unwrap().name(), name);
        assert_eq!(registry.build(name, &json!({})).unwrap().name(), name);
    }
}

#[test]
fn unknown_modes_are_errors_with_the_nearest_name() {
    insta::assert_snapshot!(refused("reflexion", json!({})), @"unknown thinking mode `reflexion`; expected `best_of`, `critique`, `plan_first`, `reflection` or `verification`; did you mean `reflection`?");
    insta::assert_snapshot!(refused("\u{1b}[2J", json!({})), @r"unknown thinking mode `\u{1b}[2J`; expected `best_of`, `critique`, `plan_first`, `reflection` or `verification`");
    assert_eq!(
        Registry::new()
            .build("reflection", &Value::Null)
            .err()
            .unwrap()
            .to_string(),
        "unknown thinking mode `reflection`; expected none",
    );
}

#[test]
fn all_problems_of_the_settings_come_at_once() {
    insta::assert_snapshot!(refused("reflection", json!({"reflection_promt": "?", "rounds": "two", "score": 11, "on_failure": "kep"})), @r"
    settings of the thinking mode `reflection`
    `config.on_failure`: it is the text `kep`; did you mean `keep`?
    `config.reflection_promt`: unknown setting; did you mean `reflection_prompt`?
    `config.rounds`: it is the text `two`; expected a whole number
    `config.score`: it is 11; expected from 0 to 10
    `config.reflection_prompt`: it is missing
    ");

    insta::assert_snapshot!(refused("critique", json!({"criteria": ["short", 7, ""], "rounds": 0})), @r"
    settings of the thinking mode `critique`
    `config.criteria[1]`: it is 7; expected a text
    `config.criteria[2]`: it has 0 characters; expected from 1 to 2000 characters
    `config.rounds`: it is 0; expected from 1 to 8
    ");

    insta::assert_snapshot!(refused("critique", json!({"criteria": []})), @r"
    settings of the thinking mode `critique`
    `config.criteria`: it has 0 items; expected from 1 to 32 items
    ");
    insta::assert_snapshot!(refused("best_of", json!({"candidates": 2.5, "temperature": "hot", "judge": "me"})), @r"
    settings of the thinking mode `best_of`
    `config.candidates`: it is 2.5; expected a whole number
    `config.judge`: unknown setting; expected `candidates`, `judge_prompt`, `on_failure` or `temperature`
    `config.temperature`: it is the text `hot`; expected a number
    ");

    insta::assert_snapshot!(refused("plan_first", json!(["plan_prompt"])), @r"
    settings of the thinking mode `plan_first`
    `config`: it is a list; expected a map
    ");
    insta::assert_snapshot!(refused("verification", json!({"questions": -1})), @r"
    settings of the thinking mode `verification`
    `config.questions`: it is -1; expected from 1 to 16
    ");
}

#[test]
fn problems_are_data() {
    let error = Registry::with_built_in()
        .build("critique", &json!({"criteria": ["short", 7], "round": 1}))
        .err()
        .unwrap();
    let ModeBuildError::Settings { mode, problems } = error else {
        panic!("{error}")
    };

    assert_eq!(mode, "critique");
    assert_eq!(
        problems[0].path,
        [PathPart::Key("criteria".to_owned()), PathPart::Index(1)]
    );
    assert_eq!(problems[0].path(), "config.criteria[1]");
    assert_eq!(
        (
            problems[0].message.as_str(),
            problems[0].expected.as_deref()
        ),
        ("it is 7", Some("a text"))
    );

    assert_eq!(problems[1].nearest.as_deref(), Some("rounds"));
}

#[derive(Deserialize, JsonSchema)]
struct Tone {
    tone: String,
    #[serde(default)]
    #[allow(dead_code)]
    more: Vec<Inner>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Inner {
    level: u8,
}

impl ThinkingMode for Tone {
    fn hooks(&self) -> Hooks {
        Hooks::NONE
    }
}

#[test]
fn names_are_taken_once() {
    let mut registry = Registry::with_built_in();
    registry
        .register::<Tone, Tone>("tone", "Sets the tone", Ok)
        .unwrap();
    let error = registry
        .register::<Tone, Tone>("reflection", "Another one", Ok)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the thinking mode `reflection` is already registered; choose a different name"
    );

    let error = registry
        .register::<Tone, Tone>("no name", "", Ok)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`no name` is not a valid name of a thinking mode; expected 1 to 64 letters, digits, `_` and `-`"
    );
}

#[test]
fn settings_are_strict_even_where_their_type_is_not() {
    let mut registry = Registry::new();
    let factory = |settings: Tone| match settings.tone.as_str() {
        "rude" => Err("`rude` is no tone; expected a kind one".to_owned()),
        _ => Ok(settings),
    };
    registry
        .register::<Tone, Tone>("tone", "Sets the tone", factory)
        .unwrap();
    let refused = |settings| format!("{:#}", registry.build("tone", &settings).err().unwrap());

    insta::assert_snapshot!(refused(json!({"tone": "kind", "more": [{"level": 1}, {"level": 300, "lvl": 2}], "colour": 1})), @r"
    settings of the thinking mode `tone`
    `config.colour`: unknown setting; expected `more` or `tone`
    `config.more[1].level`: it is 300; expected from 0 to 255
    `config.more[1].lvl`: unknown setting; expected `level`
    ");

    insta::assert_snapshot!(refused(json!({"tone": "rude"})), @r"
    settings of the thinking mode `tone`
    `config`: `rude` is no tone; expected a kind one
    ");
    assert!(
        registry
            .build("tone", &json!({"tone": "kind", "more": [{"level": 1}]}))
            .is_ok()
    );
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read, and not looked at")]
struct Nested {
    left_out: Option<Inner>,
    pair: Option<(Inner, u8)>,
    itself: Option<Box<Nested>>,
    choices: Option<Vec<Choice>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read, and not looked at")]
enum Choice {
    Text(String),
    Inner(Inner),
}

impl ThinkingMode for Nested {}

#[test]
fn settings_are_strict_wherever_a_type_stands_in_another() {
    let mut registry = Registry::new();
    registry
        .register::<Nested, Nested>("nested", "Nests", Ok)
        .unwrap();
    let wrong = json!({
        "left_out": {"level": 1, "lvl": 2},
        "pair": [{"level": 1, "lvl": 2}, 3],
        "itself": {"itself": {"left_owt": null}},
        "choices": ["text", {"level": 1, "lvl": 2}],
    });

    insta::assert_snapshot!(format!("{:#}", registry.build("nested", &wrong).err().unwrap()), @r"
    settings of the thinking mode `nested`
    `config.choices[1].lvl`: unknown setting; expected `level`
    `config.itself.itself.left_owt`: unknown setting; did you mean `left_out`?
    `config.left_out.lvl`: unknown setting; expected `level`
    `config.pair[0].lvl`: unknown setting; expected `level`
    ");

    let right = json!({"left_out": null, "pair": [{"level": 1}, 3], "itself": {"itself": {}}, "choices": ["text", {"level": 1}]});
    assert!(registry.build("nested", &right).is_ok());
}

#[test]
fn problems_are_told_up_to_a_number() {
    let mut registry = Registry::new();
    registry
        .register::<Nested, Nested>("nested", "Nests", Ok)
        .unwrap();
    let wrong = json!({"choices": vec![json!(1); 1_000]});
    let Err(ModeBuildError::Settings { problems, .. }) = registry.build("nested", &wrong) else {
        panic!("accepted")
    };

    assert_eq!(problems.len(), 100);
}

fn json_values() -> impl Strategy<Value = Value> {
    let keys = prop_oneof![
        Just("reflection_prompt".to_owned()),
        Just("rounds".to_owned()),
        Just("criteria".to_owned()),
        Just("on_failure".to_owned()),
        "\\PC{0,8}"
    ];

    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(Value::from("keep")),
    ];

    leaf.prop_recursive(3, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys.clone(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_settings_give_a_mode_or_problems_in_single_lines(settings in json_values()) {
        let registry = Registry::with_built_in();
        for name in ["reflection", "plan_first", "critique", "verification", "best_of"] {
            if let Err(error) = registry.build(name, &settings) {
                let ModeBuildError::Settings { problems, .. } = error else { panic!("{error}") };
                prop_assert!(!problems.is_empty());
                for problem in problems {
                    prop_assert!(problem.path().starts_with("config"));
                    prop_assert!(!problem.to_string().contains('\n'));
                }
            }
        }
    }

    /// What the schema lets through, the type reads: no problem comes without a path but those of the whole.
    #[test]
    fn the_schema_says_what_the_type_says(rounds in -3..40_i64, score in -2.0..13.0_f64, verdict in "[A-Z]{0,3}") {
        let settings = json!({"reflection_prompt": "?", "rounds": rounds, "score": score, "verdict": verdict});
        let is_right = (1..=16).contains(&rounds) && (0.0..=10.0).contains(&score) && !verdict.is_empty();
        prop_assert_eq!(Registry::with_built_in().build("reflection", &settings).is_ok(), is_right);
    }
}
