//! Values that are read, corrected, or refused.

use std::collections::BTreeMap;

use cogwork_typed::AnswerReader;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hostile::read;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
struct Order {
    customer: String,
    item_count: u32,
    total: f64,
    paid: bool,
    tags: Vec<String>,
    note: Option<String>,
    discount: Option<f64>,
    state: OrderState,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OrderState {
    Open,
    InTransit,
    Done,
}

fn order() -> Order {
    Order {
        customer: "Ann".to_owned(),
        item_count: 3,
        total: 1234.5,
        paid: true,
        tags: vec!["new".to_owned()],
        note: None,
        discount: None,
        state: OrderState::InTransit,
    }
}

const JSON: &str = r#"{"customer": "Ann", "item_count": 3, "total": 1234.5, "paid": true, "tags": ["new"], "state": "in_transit"}"#;

#[test]
fn an_answer_is_found_wherever_models_put_it() {
    for reply in [
        format!("Sure! Here it is:\n\n```\n{JSON}\n```\nAnything else?"),
        format!("Sure: {JSON} I hope this helps [1]."),
        format!("<think>\n{{\"customer\": \"Bob\"}} no.\n</think>\n{JSON}"),
        format!("{{see below}}\n{JSON}"),
        format!("\u{feff}{JSON}"),
        format!("[{JSON}]"),
        format!("{{\"order\": {JSON}}}"),
        format!("```json\n{{\"customer\": \"…\"}}\n```\nFilled in:\n```json\n{JSON}\n```"),
    ] {
        let read = read::<Order>(&reply);
        assert_eq!(read.map(|(value, _)| value), Ok(order()), "{reply}");
    }
}

#[test]
fn an_answer_in_yaml_is_read() {
    let yaml = "customer: Ann\nitem_count: 3\ntotal: 1234.5\npaid: yes\ntags:\n  - new\nnote: null\nstate: in_transit\n";
    for reply in [
        yaml.to_owned(),
        format!("```yaml\n{yaml}```"),
        format!("Here it is:\n\n{yaml}"),
    ] {
        let read = read::<Order>(&reply);
        assert_eq!(read.map(|(value, _)| value), Ok(order()), "{reply}");
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Note {
    customer: String,
    note: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

/// What YAML refuses is corrected and reported. What it may read in another way is refused.
#[test]
fn malformed_yaml_is_corrected_or_refused() {
    insta::assert_debug_snapshot!(
        [
            "```yaml\ncustomer: Ann\nnote: so: it goes\n```",
            "customer: Ann\n  note: a\n",
            "customer: \"Ann\nnote: a\n",
            "customer: \"Ann\" Lee\nnote: a\n",
            "customer: Ann\ncustomer: Bob\n",
            "customer: Ann\ntags: [new, old\nnote: a\n",
            "customer: Ann\ntags:\n- new\n  - old\n* third\nnote: thought #1\n",
            "customer: Ann\ntags:\n1. new\n2. old\n",
            "customer: Ann\nI mean the man.\nnote: a\nThat is all.",
            "customer: |\nAnn\nLee\nnote: >\n  a\n  b\n",
            "customer: &a Ann\nnote: *a\n",
            "customer: Ann\n---\ncustomer: Bob\n",
            "customer: Ann\ntags:\n- new\n- ...\n",
            "```json\ncustomer: Ann\n\"note\"",
            "```yaml\ncustomer: Ann\nnote: cut o",
        ]
        .map(read::<Note>)
    );
}

#[test]
fn types_that_are_no_objects_are_wrapped() {
    for reply in [
        "{\"answer\": 7}",
        "{\"reason\": \"so\", \"answer\": 7}",
        "7",
        "**7**",
        "The answer is: 7",
    ] {
        assert_eq!(read::<u8>(reply).unwrap().0, 7, "{reply}");
    }
    for reply in ["{\"answer\": [1, 2]}", "[1, 2]"] {
        assert_eq!(read::<Vec<u8>>(reply), Ok((vec![1, 2], Vec::new())));
    }
    let repair = "line 1: read the key `items` as `answer`".to_owned();
    let expected = Ok((vec![1, 2], vec![repair]));
    assert_eq!(read::<Vec<u8>>("{\"items\": [1, 2]}"), expected);

    assert!(read::<bool>("Yes.").unwrap().0);
    let state = read::<OrderState>("`In transit`").unwrap().0;
    assert_eq!(state, OrderState::InTransit);
    let none = read::<Option<u8>>("{\"answer\": null}");
    assert_eq!(none, Ok((None, Vec::new())));

    let map: BTreeMap<String, u8> = [("a".to_owned(), 1)].into();
    assert_eq!(
        read("{\"answer\": {\"a\": 1}}"),
        Ok((map.clone(), Vec::new()))
    );
    for reply in [
        "{\"a\": 1}",
        "{\"Answer\": {\"a\": 1}}",
        "Here it is:\n\n{\"a\": 1}\n\nSo much for that.",
        "Here it is:\n```json\n{\"answer\": {\"a\": 1}}\n```",
    ] {
        let read = read::<BTreeMap<String, u8>>(reply);
        assert_eq!(read.map(|(value, _)| value), Ok(map.clone()), "{reply}");
    }
}

#[test]
fn commands_of_latex_keep_their_backslash() {
    let repair = "line 1: escaped characters in a text";
    for text in [
        r"\frac{\sqrt{2}}{2}",
        r"2 \times \beta \theta \nabla \rangle",
        r"\text{cm} \right)",
        r"$x \neq y$",
    ] {
        let reply = format!(r#"{{"answer": "{text}"}}"#);
        let (value, repairs) = read::<String>(&reply).unwrap();
        assert_eq!(value, text);
        assert_eq!(repairs, [repair], "{reply}");

        let yaml = format!("answer: \"{text}\"");
        assert_eq!(read::<String>(&yaml).unwrap().0, text);
        let inside = format!("answer:\n- {{note: x, customer: \"{text}\"}}");
        assert_eq!(read::<Vec<Note>>(&inside).unwrap().0[0].customer, text);
    }

    for (escapes, expected) in [
        (
            r"a\tb\nequals\f1 \u000crac\nto you\r\n",
            "a\tb\nequals\u{c}1 \u{c}rac\nto you\r\n",
        ),
        (
            r"costa $5\ne $7\nu $9, non\ne) 5",
            "costa $5\ne $7\nu $9, non\ne) 5",
        ),
        (r"nom\tau revoir", "nom\tau revoir"),
    ] {
        let reply = format!(r#"{{"answer": "{escapes}"}}"#);
        assert_eq!(
            read::<String>(&reply),
            Ok((expected.to_owned(), Vec::new()))
        );
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
enum Shape {
    Point,
    Circle { radius: f64 },
    Box(Box<Shape>),
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Event {
    LogIn { user_name: String },
    LogOut,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Amount {
    Count(u32),
    Text(String),
}

#[test]
fn enums_with_data_are_read() {
    let nested = Shape::Box(Box::new(Shape::Box(Box::new(Shape::Point))));
    for (reply, shape) in [
        ("{\"answer\": \"point\"}", Shape::Point),
        ("{circle: {radius: '2'}}", Shape::Circle { radius: 2.0 }),
        ("{\"answer\": {\"Box\": {\"Box\": \"Point\"}}}", nested),
    ] {
        assert_eq!(read::<Shape>(reply).unwrap().0, shape, "{reply}");
    }

    let event = read::<Event>("{\"kind\": \"log_in\", \"userName\": \"Ann\"}").unwrap();
    let user_name = "Ann".to_owned();
    assert_eq!(event.0, Event::LogIn { user_name });
    assert_eq!(
        read::<Event>("{\"kind\": \"logOut\"}").unwrap().0,
        Event::LogOut
    );

    let count = read::<Amount>("{\"answer\": 3}").unwrap();
    assert_eq!(count.0, Amount::Count(3));
    let text = read::<Amount>("{\"answer\": \"3\"}").unwrap();
    assert_eq!(text.0, Amount::Text("3".to_owned()));
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Pair {
    left: Vec<u8>,
    right: String,
}

/// A text whose opening quote is missing may contain the brackets that close the value.
#[test]
fn a_value_that_ends_early_is_refused() {
    for reply in [
        r#"{"left": [1], "right": }-", "tags": [""]}"#,
        r#"{"right": "a", "left": []}-","",""]}"#,
        r#"{"right": "a", "left": [1]}, "more": 1}"#,
        r#"{"left": [1], "right":A "}"#,
        r#"{"left": [1], "right": "a" and "b}"#,
    ] {
        let problem = read::<Pair>(reply).unwrap_err();
        assert!(problem.contains("line 1"), "{problem}");
    }

    assert!(read::<Pair>(r#"{"right": "a", "left": [1]}}"#).is_ok());
    assert!(read::<Pair>(r#"{"right": "a", "left": [1]} (see [2])"#).is_ok());
}

#[test]
fn keys_that_a_schema_leaves_open_are_kept_without_a_report() {
    let inner = json!({"type": "object", "properties": {"a": {}}});
    let reader = AnswerReader::of_schema(&json!({
        "type": "object",
        "properties": {"free": {"type": "object"}, "inner": inner},
        "additionalProperties": false,
    }));

    let reply = r#"{"free": {"c": 3}, "inner": {"a": 1, "b": 2}}"#;
    let read = reader.read(reply).unwrap();
    assert_eq!(read.value, serde_json::from_str::<Value>(reply).unwrap());
    assert_eq!(read.repairs, []);
}
