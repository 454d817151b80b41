//! Records that are torn, edited, newer, or far too large.

use std::io::{BufReader, Read, repeat};

use cogwork_trace::{RecordError, RecordErrorKind, RecordReader};
use proptest::prelude::*;

const HEADER: &str = r#"{"cogwork_record":1,"run":"r","flow":"f","started":0.5}"#;

fn record(lines: &[&str]) -> String {
    let mut record = format!("{HEADER}\n");
    for line in lines {
        record.push_str(line);
        record.push('\n');
    }

    record
}

fn refused(record: &str) -> String {
    match RecordReader::new(record.as_bytes()) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_torn_last_line_is_dropped() {
    let whole = record(&[r#"{"at":0.0,"type":"run_started"}"#]);

    for torn in [
        "{",
        r#"{"at":0.1,"type":"moved","#,
        r#"{"at":0.1,"type":"replayed"}"#,
    ] {
        let record = format!("{whole}{torn}");
        let mut reader = RecordReader::new(record.as_bytes()).unwrap();

        let events: Result<Vec<_>, _> = reader.by_ref().collect();
        assert_eq!(events.unwrap().len(), 1);
        assert_eq!(reader.torn(), Some(torn.len() as u64));
        assert_eq!(reader.bytes(), whole.len() as u64);
    }
}

#[test]
fn only_records_of_known_versions_are_read() {
    let newer = HEADER.replace(":1,", ":2,") + "\n";
    let negative = HEADER.replace(":1,", ":-1,") + "\n";
    let zero = HEADER.replace(":1,", ":0,") + "\n";

    insta::assert_snapshot!(refused(&newer), @"line 1: the record has format 2, which is newer than 1; read it with a newer version");
    insta::assert_snapshot!(refused(&negative), @r#"line 1: not the header of a record, such as {"cogwork_record": 1, "run": …}: invalid value: integer `-1`, expected u64 at column 20"#);
    insta::assert_snapshot!(refused(&zero), @r#"line 1: not the header of a record, such as {"cogwork_record": 1, "run": …}: there is no format 0"#);
    insta::assert_snapshot!(refused(""), @r#"line 1: not the header of a record, such as {"cogwork_record": 1, "run": …}: the record is empty"#);
    insta::assert_snapshot!(refused(HEADER), @r#"line 1: not the header of a record, such as {"cogwork_record": 1, "run": …}: the line is incomplete"#);
    insta::assert_snapshot!(refused("{\"type\":\"run_started\"}\n"), @r#"line 1: not the header of a record, such as {"cogwork_record": 1, "run": …}: missing field `cogwork_record` at column 22"#);
    insta::assert_snapshot!(refused("plain text\n"), @r#"line 1: not the header of a record, such as {"cogwork_record": 1, "run": …}: expected value at column 1"#);
}

#[test]
fn unknown_types_and_fields_are_no_error() {
    let record = record(&[
        r#"{"at":1.5,"type":"dreamed","of":["sheep"]}"#,
        r#"{"step":"f/a#1","at":2,"type":"moved","action":"x","to":"b","mood":"good"}"#,
        r#"{"at":3.0,"type":"reported","source":"chat","report":{"type":"sung","call":1}}"#,
        "",
    ]);

    let events: Result<Vec<_>, _> = RecordReader::new(record.as_bytes()).unwrap().collect();
    let events = events.unwrap();

    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["dreamed", "moved", "reported"]);
    assert_eq!(events[0].fields["of"][0], "sheep");
}

#[test]
fn a_damaged_line_is_named_and_skipped() {
    let deep = format!(
        r#"{{"type":"reported","report":{}{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let record = record(&[
        r#"{"at":0.0,"type":"run_started"}"#,
        "not JSON",
        r#"{"at":0.0}"#,
        r#"{"at":0.0,"type":7}"#,
        r#"{"at":"noon","type":"replayed"}"#,
        "[]",
        &deep,
        r#"{"at":0.5,"type":"replayed"}"#,
    ]);

    let events = RecordReader::new(record.as_bytes()).unwrap();
    let shown: Vec<String> = events
        .map(|event| event.map_or_else(|error| error.to_string(), |event| event.name))
        .collect();

    insta::assert_snapshot!(shown.join("\n"), @r#"
    run_started
    line 3: not an event: expected ident at column 2
    line 4: not an event: the line has no `type`, such as "step_entered"
    line 5: not an event: the line has no `type`, such as "step_entered"
    line 6: not an event: invalid type: string "noon", expected f64
    line 7: not an event: invalid type: sequence, expected a map at column 0
    line 8: not an event: recursion limit exceeded at column 155
    replayed
    "#);
}

#[test]
fn bytes_that_are_no_text_are_an_error_of_their_line() {
    let mut record = record(&[]).into_bytes();
    record.extend_from_slice(b"{\"type\":\"noted\",\"text\":\"\xff\"}\n\0\0\0\n");
    record.extend_from_slice(b"{\"at\":1.0,\"type\":\"replayed\"}\n");

    let events: Vec<_> = RecordReader::new(record.as_slice()).unwrap().collect();
    let read: Vec<_> = events.iter().map(Result::is_ok).collect();
    assert_eq!(read, [false, false, true]);
}

/// A record of a gigabyte that is made while it is read.
fn gigabyte(line: impl Read) -> BufReader<impl Read> {
    let header = format!("{HEADER}\n");
    let source = std::io::Cursor::new(header.into_bytes()).chain(line.take(1 << 30));
    BufReader::with_capacity(64 * 1024, source)
}

#[test]
fn a_line_of_a_gigabyte_is_skipped_without_being_kept() {
    let source = gigabyte(repeat(b' ')).chain(&b"\n{\"type\":\"replayed\"}\n"[..]);
    let mut reader = RecordReader::new(BufReader::new(source)).unwrap();
    let error = reader.next().unwrap().unwrap_err();
    assert!(matches!(error.kind(), RecordErrorKind::LongLine { .. }));
    assert_eq!(reader.next().unwrap().unwrap().name, "replayed");
}

#[test]
fn text_in_a_record_stays_as_it_was_written() {
    let hostile = "</script><script>alert(1)</script>\u{202e}\u{0}\u{1b}[2J\u{2028}\n\"\\";
    let json = serde_json::to_string(hostile).unwrap();
    let line = format!(
        r#"{{"type":"reported","source":"chat","report":{{"type":"message","id":0,"role":"user","content":{json}}}}}"#
    );
    let record = record(&[&line]);

    let event = RecordReader::new(record.as_bytes()).unwrap().next();
    let event = event.unwrap().unwrap();

    assert_eq!(event.report_from("chat").unwrap()["content"], hostile);
    assert_eq!(event.report_from("reasoning"), None);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(reader) = RecordReader::new(bytes.as_slice()) {
            let _ = reader.count();
        }

        let record = [HEADER.as_bytes(), b"\n", &bytes].concat();
        let _ = RecordReader::new(record.as_slice()).unwrap().count();
    }
}

#[test]
fn errors_are_shown_on_one_line_without_the_text_of_the_record() {
    let record = record(&["{\"type\":\"moved\u{1b}[2J\u{202e}\",\"at\":\"\u{202e}\"}"]);
    let error: RecordError = RecordReader::new(record.as_bytes())
        .unwrap()
        .next()
        .unwrap()
        .unwrap_err();

    let shown = error.to_string();
    assert!(shown.starts_with("line 2: "), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}', '\n']), "{shown:?}");
}

/// Somebody may remove or replace the lines of a record while it is read.
#[test]
fn a_record_that_shrinks_while_it_is_read_ends_there() {
    let line = "{\"at\":0.1,\"type\":\"noted\",\"text\":\"a\"}\n";
    let header = "{\"cogwork_record\":1,\"run\":\"r\",\"flow\":\"f\",\"started\":0}\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.trace");
    std::fs::write(&path, format!("{header}{}", line.repeat(10_000))).unwrap();

    for length in [0, header.len() + 10, 100_007] {
        let mut reader = RecordReader::open(&path).unwrap();
        assert!(reader.next().unwrap().is_ok());

        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_len(length as u64).unwrap();
        let read = reader
            .by_ref()
            .inspect(|event| assert!(event.is_ok()))
            .count();
        assert!(read < 9_999, "{read}");

        std::fs::write(&path, format!("{header}{}", line.repeat(10_000))).unwrap();
    }
}
