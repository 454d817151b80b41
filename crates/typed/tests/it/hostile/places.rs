//! Where the value is in the reply.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Point, read, refusal};

/// The place where JSON was written as a text, and how much of a list it is, isn't guessed.
#[test]
fn json_in_texts_is_read_where_no_text_can_be_meant() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Holder {
        points: Vec<Point>,
        note: String,
        any: Value,
    }

    let text = r#"[{"x": 1}]"#;
    let reply = json!({"points": text, "note": text, "any": text}).to_string();
    let (holder, repairs) = read::<Holder>(&reply).unwrap();

    assert_eq!(holder.points, [Point { x: 1, y: None }]);
    assert_eq!(holder.note, text);
    assert_eq!(holder.any, json!(text));
    assert_eq!(repairs, ["line 1: `/points`: read the JSON in a text"]);

    let whole = json!(reply).to_string();
    assert_eq!(read::<Holder>(&whole).unwrap().0, holder);
    for broken in ["[{\"x\": 1}", "[{\"x\": 1}] or more", "[{\"x\": \"a\"}]"] {
        let reply = json!({"points": broken, "note": "", "any": 1}).to_string();
        assert!(refusal::<Holder>(&reply).contains("`/points"), "{broken}");
    }
}

#[test]
fn one_item_is_a_list_and_several_are_not() {
    let point = || Point { x: 1, y: None };
    let (points, repairs) = read::<Vec<Point>>("Here it is: {\"x\": 1}").unwrap();
    assert_eq!(points, [point()]);
    assert_eq!(repairs, ["line 1: made a list of a single value"]);

    for several in [
        "{\"x\": 1}\n{\"x\": 2}",
        "```json\n{\"x\": 1}\n```\nand\n```json\n{\"x\": 2}\n```",
    ] {
        assert!(refusal::<Vec<Point>>(several).contains("one list"));
    }
    assert_eq!(
        read::<Vec<Point>>("An item is {\"x\": 9}.\n\n[{\"x\": 1}]")
            .unwrap()
            .0,
        [point()]
    );
}

/// Of a list without one of its ends, the last object isn't the whole answer.
#[test]
fn a_part_of_a_list_is_not_its_only_item() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    enum Mood {
        Good,
        Other(String),
    }

    for part in [
        r#""Good",{"Other":""}]"#,
        "\"Good\",\n{\"Other\": \"fine\"}\n]",
        r#"["Good"; {"Other": "fine"}"#,
        r#"[Good",{"Other":"a\""}]"#,
    ] {
        let read = read::<Vec<Mood>>(part).map(|(moods, _)| moods);
        assert!(
            read.as_ref().map_or(true, |moods| moods.len() == 2),
            "{read:?}"
        );
    }
}

/// A quote at a wrong place shows brackets of a text as those of the object.
#[test]
fn an_object_that_ends_inside_a_text_is_not_whole() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Note {
        next_step: String,
        text: Option<String>,
    }

    let shown = refusal::<Note>(r#"{"next_step:":a}{","text":null}"#);
    assert!(
        shown.contains("the brackets are closed before the end"),
        "{shown}"
    );
}

/// An object that only has other keys isn't an item whose keys are all left out.
#[test]
fn another_object_is_not_an_item() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Next {
        next: Option<bool>,
    }

    for reply in [
        "{\"answer\": [[]}",
        "{\"answer\": {\"other\": 1}}",
        "{\"answer\": 7}",
        "{\"other\": 1}",
    ] {
        assert!(read::<Vec<Next>>(reply).is_err(), "{reply}");
    }
    assert_eq!(read("{\"answer\": []}"), Ok((Vec::<Next>::new(), vec![])));
}

#[test]
fn an_object_of_something_else_is_named() {
    assert_eq!(
        refusal::<Point>("{\"name\": \"Point\", \"arguments\": {\"x\": 1}}"),
        "line 1: the object has the keys `name` and `arguments`; expected a JSON object with `x`, `y`"
    );
    assert_eq!(
        refusal::<Point>("No."),
        "line 1: the reply has no JSON object; expected a JSON object with `x`, `y`"
    );
}
