//! Texts from records are always shown safely.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use cogwork_trace::{RecordError, RecordReader};
use hostile::{assert_error_is_safe, texts};

const HEADER: &str = r#"{"cogwork_record":1,"run":"r","flow":"f","started":0.5}"#;

#[test]
fn nothing_unsafe_is_shown() {
    for text in texts() {
        let named = format!(r#"{{"type":{}}}"#, serde_json::json!(text));
        let records = [
            text.clone(),
            format!("{HEADER}\n{text}\n"),
            format!("{HEADER}\n{named}\n"),
        ];

        for error in records.iter().flat_map(|record| errors(record)) {
            assert_error_is_safe(&error);
        }
    }
}

fn errors(record: &str) -> Vec<RecordError> {
    match RecordReader::new(record.as_bytes()) {
        Ok(reader) => reader.filter_map(Result::err).collect(),
        Err(error) => vec![error],
    }
}
