//! Events that are edited, incomplete or of another version.

use cogwork_trace::Header;
use proptest::prelude::*;

#[test]
fn a_header_is_the_event_with_which_a_run_is_opened() {
    let json = r#"{"at":0.0,"type":"opened","run":"r","flow":"f","started":0.5,"x":1}"#;
    let header = Header::from_json(json).unwrap();
    assert_eq!((header.run.as_str(), header.started), ("r", 0.5));

    assert_eq!(Header::from_json(&json.replace("opened", "noted")), None);
    assert_eq!(Header::from_json(r#"{"type":"opened"}"#), None);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in r#"[{}\[\]":,a-z0-9 \\]{0,200}"#) {
        let _ = Header::from_json(&text);
    }
}
