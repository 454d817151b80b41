//! Events that are edited, incomplete or of another version.

use cogwork_trace::{Header, RecordedEvent};
use proptest::prelude::*;

#[test]
fn unknown_types_and_fields_are_no_error() {
    let read = |json| RecordedEvent::from_json(json).unwrap();

    let dreamed = read(r#"{"at":1.5,"type":"dreamed","of":["sheep"]}"#);
    assert_eq!(dreamed.name, "dreamed");
    assert_eq!(dreamed.fields["of"][0], "sheep");

    let moved = read(r#"{"step":"f/a#1","at":2,"type":"moved","to":"b","mood":"good"}"#);
    assert_eq!(moved.step.as_deref(), Some("f/a#1"));
    assert_eq!(moved.report_from("chat"), None);

    let sung = read(r#"{"type":"reported","source":"chat","report":{"type":"sung"}}"#);
    assert_eq!(sung.report_from("chat").unwrap()["type"], "sung");
    assert_eq!(sung.report_from("tool"), None);
}

#[test]
fn what_is_no_event_is_an_error() {
    let refused = |json| RecordedEvent::from_json(json).unwrap_err().to_string();
    insta::assert_snapshot!(refused(r#"{"at":1.5}"#), @r#"the event has no `type`, such as "step_entered""#);
    insta::assert_snapshot!(refused(r#"{"at":1.5,"typ"#), @"EOF while parsing a string at line 1 column 14");
    insta::assert_snapshot!(refused(r#"{"at":"now","type":"noted"}"#), @r#"invalid type: string "now", expected f64"#);
}

#[test]
fn a_header_is_the_event_with_which_a_run_is_opened() {
    let json =
        r#"{"at":0.0,"type":"opened","run":"r","flow":"f","started":0.5,"content":"new","x":1}"#;
    let header = Header::from_json(json).unwrap();
    assert_eq!((header.run.as_str(), header.started), ("r", 0.5));
    // A value that this version doesn't know.
    assert_eq!(header.content, cogwork_trace::Content::None);

    assert_eq!(Header::from_json(&json.replace("opened", "noted")), None);
    assert_eq!(Header::from_json(r#"{"type":"opened"}"#), None);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in r#"[{}\[\]":,a-z0-9 \\]{0,200}"#) {
        let _ = RecordedEvent::from_json(&text);
        let _ = Header::from_json(&text);
    }
}
