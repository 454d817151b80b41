//! Types with several forms.

use cogwork_typed::AnswerReader;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Point, read, refusal, schema};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Figure {
    Dot(Point),
    Line { from: Point, to: Point },
    Nothing,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "colour", content = "shade")]
enum Colour {
    Grey(u8),
    Black,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Drawn {
    id: u8,
    #[serde(flatten)]
    figure: Figure,
    #[serde(flatten)]
    colour: Colour,
}

/// A server that enforces the schema allows every value of the type.
#[test]
fn tags_and_flattened_parts_are_in_the_schema() {
    let dot = &schema::<Figure>()["anyOf"][0];
    assert_eq!(dot["required"], json!(["kind", "x", "y"]));
    assert_eq!(dot["properties"]["kind"]["enum"], json!(["Dot"]));

    let drawn = schema::<Drawn>();
    let forms = drawn["anyOf"].as_array().unwrap();
    assert_eq!(forms.len(), 6);
    assert_eq!(
        forms[0]["required"],
        json!(["id", "kind", "x", "y", "colour", "shade"])
    );
    assert!(AnswerReader::<Drawn>::new().flat_schema().is_some());
}

#[test]
fn tagged_and_flattened_values_are_read_without_false_reports() {
    let dot = || Figure::Dot(Point { x: 5, y: None });
    assert_eq!(read(r#"{"kind": "Dot", "x": 5}"#), Ok((dot(), Vec::new())));

    let drawn = r#"{"id": 1, "kind": "Dot", "x": 5, "colour": "Grey", "shade": 9}"#;
    let expected = Drawn {
        id: 1,
        figure: dot(),
        colour: Colour::Grey(9),
    };
    assert_eq!(read(drawn), Ok((expected, Vec::new())));

    let (drawn, repairs) =
        read::<Drawn>(r#"{"id": "1", "kind": "nothing", "colour": "black"}"#).unwrap();
    assert_eq!(drawn.figure, Figure::Nothing);
    assert_eq!(repairs.len(), 3);
}

/// A complaint about one of several forms names the part that is wrong, or shows the forms.
#[test]
fn the_form_that_was_meant_is_complained_about() {
    insta::assert_debug_snapshot!(
        [
            r#"{"kind": "Dot", "x": "left"}"#,
            r#"{"kind": "Dot", "x": 300}"#,
            r#"{"kind": "Line", "from": {"x": 1}}"#,
            r#"{"kind": "Circle", "x": 1}"#,
            r#"{"Dot": {"x": 1}}"#,
            r#"{"colour": "red"}"#,
            r#"["Dot"]"#,
        ]
        .map(refusal::<Figure>)
    );
}

#[test]
fn formats_and_patterns_are_described() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only described")]
    struct Parcel {
        #[schemars(email)]
        sender: String,
        #[schemars(regex(pattern = r"^[A-Z]{3}$"))]
        airport: String,
    }

    let reader = AnswerReader::<Parcel>::new();
    let properties = &schema::<Parcel>()["properties"];
    assert_eq!(properties["sender"]["format"], "email");
    assert_eq!(properties["airport"]["pattern"], "^[A-Z]{3}$");
    assert_eq!(
        reader.description(),
        "- sender (a text in the format email)\n- airport (a text that matches `^[A-Z]{3}$`)"
    );

    // The strict mode supports few of them, depending on the model.
    let flat = reader.flat_schema().unwrap().to_string();
    assert!(!flat.contains("format") && !flat.contains("pattern"));
}
