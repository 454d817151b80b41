//! Texts from records are always shown safely.

use cogwork_text::testing::{Shown, texts};
use cogwork_trace::{RecordError, RecordReader};

const HEADER: &str = r#"{"cogwork_record":1,"run":"r","flow":"f","started":0.5}"#;

#[test]
fn nothing_unsafe_is_shown() {
    let shown = Shown::default();

    for text in texts() {
        let named = format!(r#"{{"type":{}}}"#, serde_json::json!(text));
        let records = [
            text.clone(),
            format!("{HEADER}\n{text}\n"),
            format!("{HEADER}\n{named}\n"),
        ];

        for error in records.iter().flat_map(|record| errors(record)) {
            shown.error(&error);
        }
    }

    shown.assert_complete(env!("CARGO_MANIFEST_DIR"), &[]);
}

fn errors(record: &str) -> Vec<RecordError> {
    match RecordReader::new(record.as_bytes()) {
        Ok(reader) => reader.filter_map(Result::err).collect(),
        Err(error) => vec![error],
    }
}
