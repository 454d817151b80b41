//! Replies that could be read as something else than what was meant: each is read as meant, or
//! refused with a place, or what was done is reported. Nothing is invented.

use std::collections::BTreeMap;
use std::fmt::Debug;

use cogwork_typed::AnswerReader;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

macro_rules! types {
    ($($item:item)*) => {
        $(#[derive(Debug, PartialEq, Deserialize, JsonSchema)] $item)*
    };
}

types! {
    struct Price {
        price: String,
    }

    struct Optional {
        size: Option<Size>,
    }

    struct Cost {
        price: f64,
        small: Option<f32>,
    }

    struct Named {
        #[serde(alias = "title")]
        name: String,
        #[serde(default)]
        size: Size,
        #[serde(default)]
        count: u8,
    }

    #[derive(Default)]
    enum Size {
        #[default]
        Small,
        Large,
    }

    #[serde(untagged)]
    enum Weight {
        Known { grams: u8 },
        Told(String),
    }

    #[serde(deny_unknown_fields)]
    struct Closed {
        #[serde(alias = "title")]
        name: String,
    }

    struct Plan {
        thought: String,
        steps: Vec<Step>,
        is_last: bool,
    }

    struct Order {
        contact: Option<Contact>,
        refused: Vec<String>,
        #[serde(default)]
        tags: Vec<String>,
        total: Option<f32>,
    }

    struct Contact {
        name: String,
        mail: String,
    }

    struct Invoice {
        items: Vec<Map>,
        total: u32,
    }

    struct Nested {
        #[serde(default)]
        parts: Vec<Nested>,
    }

    struct Step {
        description: String,
        #[serde(default)]
        size: Size,
        result: Option<String>,
    }
}

/// Returns what is read, and what is reported, in a few words.
fn read<T: JsonSchema + DeserializeOwned + Debug>(reply: &str) -> String {
    match AnswerReader::<T>::new().read(reply) {
        Ok(read) => {
            let repairs: Vec<String> = read.repairs.iter().map(ToString::to_string).collect();
            format!("{reply}\n=> {:?} [{}]", read.value, repairs.join("; "))
        }
        Err(problem) => format!("{reply}\n=> {problem}"),
    }
}

/// Returns different prices, between two texts.
fn numbered(count: usize, before: &str, after: &str) -> String {
    let prices = (1..=count).map(|price| format!("{before}{{\"price\": \"{price}\"}}\n{after}"));
    prices.collect()
}

type Map = BTreeMap<String, Value>;

#[test]
fn what_is_silent_is_what_was_meant() {
    insta::assert_snapshot!(
        [
            read::<Price>(r#"Here it is: {"price": 19.90}"#),
            read::<Cost>(r#"Here it is: {"price": 19.90}"#),
            read::<Value>(r#"Here it is: {"price": 19.90}"#),
            read::<Map>(r#"Here you are: {"price": 1}"#),
            read::<Map>("Here you are: no price"),
            read::<Map>("price: 1\nHere you are: {\"price\": 2}"),
            read::<Vec<u8>>("{\"answer\": [3, 4]}\nSources: [1]"),
            read::<Vec<u8>>("The answer is [3, 4]. See [1]."),
            read::<Vec<u8>>("The answer is [3, 4], that is [3, 4]."),
            read::<Vec<u8>>("a: 1\nb: []"),
            read::<Vec<u8>>("a: 1\nb: [2]"),
            read::<Vec<u8>>("None: []"),
            read::<Vec<u8>>("Result: [1, 2]"),
            read::<Vec<String>>("['a' 'b']"),
            read::<Vec<String>>("[\"a\" \"b\"]"),
            read::<Vec<String>>("[\"Oslo\", ...]"),
            read::<Vec<String>>("[\"Oslo\", \"...\"]"),
            read::<Vec<String>>("- Oslo\n- ..."),
            read::<Vec<String>>("[\"Oslo\", // …\n]"),
            read::<Vec<String>>("{\"answer\": {\"1\": \"Oslo\", \"2\": \"Rome\"}}"),
            read::<Vec<String>>("{\"answer\": [\"Oslo\"], \"count\": 1}"),
            read::<Price>("{\"price\": NaN}"),
            read::<Cost>("{\"price\": NaN}"),
            read::<Cost>("price: .nan"),
            read::<Cost>("{\"price\": 1e400}"),
            read::<Cost>("{\"price\": 1e-400}"),
            read::<Cost>("{\"price\": 1, \"small\": 3.5e38}"),
            read::<Value>("{\"price\": 1e-400}"),
            read::<Price>("{\"price\": \"a</think>b\"}"),
            read::<Price>("price: It ends with </think>\n"),
            read::<Price>("{no price yet}\n</think>\n{\"price\": \"1\"}"),
            read::<Price>("{\"price\": \"1\"}\n{\"price\": \"2\"}"),
            read::<Price>("{\"price\": \"1\"}\n{\"price\": \"1\"}"),
            read::<Price>("{\"price\": \"1\"}\n{\"price\": }"),
            read::<Price>("Any time in [8, 10) will do: {\"price\": \"1\"}"),
            read::<Price>(&format!(
                "{} So: {{\"price\": \"1\"}}",
                "As in [1, 2]. ".repeat(9)
            )),
            read::<Price>(&format!(
                "{}{{\"price\": \"2\"}}",
                "{\"price\": \"1\"}\n".repeat(9)
            )),
            read::<Price>(&"{\"price\": \"1\"}\n".repeat(9)),
            read::<Price>(&numbered(33, "", "")),
            read::<Price>(&numbered(10, "```json\n", "```\n")),
            read::<Price>("{\"price\": \"1\"}\n\nprice: \"2\""),
            read::<Cost>("{\"price\": 1}\n\nprice: 2"),
            read::<Cost>("{\"price\": 1}\n\nprice: 2\nnote: as before"),
            read::<Price>("{\"price\": \"1\"}\n\nprice: as it was last year."),
            read::<Optional>("{}\n\nSee [1]."),
            read::<Optional>("Not {}, but {\"size\": \"Large\"}"),
            read::<Price>("As in [1, 2:\nprice: 1\n"),
            read::<Price>("price: 1 # or 2"),
            read::<Price>("price: about 1 # or 2"),
            read::<Price>("price: |\n  about\n  1"),
            read::<Price>("\"price\": \"1\",\n\"tax\": \"2\""),
            read::<Price>("{\"price\": \"1 \"or so\" at most\"}"),
            read::<Cost>("{\"price\": 12:30}"),
        ]
        .join("\n\n")
    );
}

/// What is elsewhere in the reply could be the value, too.
#[test]
fn what_is_left_out_is_reported() {
    insta::assert_snapshot!(
        [
            read::<Price>("Example:\n```json\n{\"price\": \"1\"}\n```\nMine: {\"price\": \"7\"}"),
            read::<Price>("Not {\"price\": \"7\"}, but:\n```json\n{\"price\": \"1\"}\n```\n"),
            read::<Price>("See {\"id\": 7} and:\n```json\n{\"price\": \"1\"}\n```\n"),
            read::<Price>("So:\n{ // in euros\n  \"price\": \"1\",\n}"),
            read::<Price>("{\"price\": \"1\"}\n\nPrice: as it was last year."),
            read::<Price>("{\"price\": \"1\", \"Price\": \"2\"}"),
            read::<Price>("{\"Price\": \"1\", \"PRICE\": \"2\"}"),
            read::<Cost>("Price: {\"price\": 1}"),
            read::<Optional>(r#"{"result": {"size": "Large"}}"#),
            read::<Optional>(r#"{"result": {"id": 1}}"#),
            read::<Cost>("[{\"price\": 1}, {\"price\": 2}]"),
            read::<Price>(r#"{"price": "a \U0001F600 \u00g0 \x41"}"#),
        ]
        .join("\n\n")
    );
}

#[test]
fn the_type_has_the_last_word() {
    insta::assert_snapshot!(
        [
            read::<Named>(r#"{"title": "a"}"#),
            read::<Named>(r#"{"name": "a", "count": null, "size": null}"#),
            read::<Named>("name: a\nsize: Large # the largest"),
            read::<Weight>(r#"{"answer": {"grams": 300}}"#),
            read::<Weight>(r#"{"answer": {"kilos": 3}}"#),
            read::<Closed>(r#"{"title": "a"}"#),
            read::<Closed>(r#"{"name": "a", "colour": "red"}"#),
        ]
        .join("\n\n")
    );
}

/// What small models do to a plan.
#[test]
fn parts_of_an_answer_are_found_where_they_do_not_belong() {
    insta::assert_snapshot!(
        [
            read::<Plan>("thought: a\nsteps:\n- description: b\n- size: Large\n- result: c\nis_last: no\n"),
            read::<Plan>("thought: a\nsteps:\n- description: b\n  is_last: true\n"),
            read::<Plan>("thought: |\n  I add.\n  - description: b\n    size: LARGE\n  - description: c\nis_last: true\n"),
            read::<Plan>("thought: a\nsteps: |\n  - description: b\n  - description: c\nis_last: true\n"),
            read::<Plan>("thought: a\nplan:\n- description: b\nis_last: true\n"),
            read::<Plan>("thought: a\nsteps:\n- Add the fee\n- description: b\nis_last: true\n"),
            read::<Plan>("thought:\n- a\n- b\nsteps: []\nis_last: true\n"),
            read::<Plan>("thought: a\nsteps:\n- description: b\nresult: c\nis_last: true\n"),
            read::<Plan>("thought: a\nsteps:\n  1. description: b\n    size: Large\n  2. description: c\nis_last: true\n"),
            read::<Plan>(r#"{"thought": "a", "steps": {"description": {"what": "b", "why": ["c"]}}, "is_last": true}"#),
        ]
        .join("\n\n")
    );
}

/// What has another name or place may mean something else.
#[test]
fn parts_that_may_mean_something_else_are_not_moved() {
    let levels = 40;
    let deep = r#"{"parts": ["#.repeat(levels) + &"]}".repeat(levels);
    insta::assert_snapshot!(
        [
            read::<Order>(r#"{"contact": {"name": "Ada"}, "refused": []}"#),
            read::<Option<Contact>>(r#"{"contact": {"name": "Ada"}}"#),
            read::<Order>(r#"{"contact": {"refused": []}}"#),
            read::<Order>(r#"{"refused": [], "labels": ["new"]}"#),
            read::<Order>(r#"{"accepted": ["a"], "total": 1}"#),
            read::<Order>(r#"{"refused": "N/A"}"#),
            read::<Order>(r#"{"refused": ""}"#),
            read::<Order>(r#"{"refused": [], "total": 3.4028235e38}"#),
            read::<Plan>(
                "thought: a\nsteps:\n- {description: Pay, result: 1,234.50}\nis_last: true"
            ),
            read::<Plan>(
                "thought: a\nsteps:\n- {description: Go, result: Paris, France}\nis_last: true"
            ),
            read::<Plan>(
                "thought: a\nsteps:\n- {description: \"say \"hi\" twice\"}\nis_last: true"
            ),
            read::<Invoice>("items: []\ntotal: 1\n---\nitems: []"),
            read::<Invoice>("items: [{a: b}]\ntotal: 1\n\nOr:\n\nitems: []"),
            read::<Invoice>(r#"{"items": [{"name": "cup", "total": 3}]}"#),
            read::<Invoice>(r#"{"items": [], "total": "12.000"}"#),
            read::<Invoice>(r#"{"items": [], "total": 12.000}"#),
            read::<Nested>(&deep),
        ]
        .join("\n\n")
    );
}
