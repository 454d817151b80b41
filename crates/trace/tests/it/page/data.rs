//! The record inside a page.

use cogwork_trace::ForkedFrom;
use serde_json::{Value, json};

use super::{data, events, header, html, note, page, record};

#[test]
fn of_a_small_run_is_plain_json() {
    let mut header = header();
    header.forked_from = Some(ForkedFrom::new("order-16", 2).with_changes(["model"]));
    let thought = json!({"type": "thought", "thought": 1, "text": "I pay.", "plan": []});
    let step = "shop/pay#1";
    let mut record = record(
        &header,
        [
            json!({"at": 0.0, "type": "run_started"}),
            note("</script> \u{2028} & \u{202e}"),
            json!({"step": step, "at": 0.5, "type": "reported", "source": "reasoning", "report": thought}),
            json!({"step": step, "at": 0.75, "type": "ended", "action": "default", "steps": 1}),
        ],
    );
    record.extend_from_slice(b"{\"at\":1}\n{\"at\":2,\"ty");

    insta::assert_snapshot!(data(&html(&page(&record))));
}

#[test]
fn of_a_large_run_is_compressed_and_complete() {
    let texts: Vec<_> = (0..5_000)
        .map(|number| format!("note {number} <b>"))
        .collect();
    let record = record(&header(), texts.iter().map(note));
    let html = html(&page(&record));

    assert!(data(&html).contains("\"packed\""), "{}", data(&html));
    assert!(html.len() < record.len(), "{} bytes", html.len());

    let shown: Vec<_> = events(&html);
    let shown: Vec<_> = shown.iter().map(|event| event["text"].clone()).collect();
    let expected: Vec<_> = texts.into_iter().map(Value::from).collect();
    assert_eq!(shown, expected);
}

/// A person may have edited the record, with an editor that ends lines as Windows does.
#[test]
fn of_an_edited_record_is_json() {
    let edited = "{\"cogwork_record\":1, \"run\":\"r\",\"flow\":\"f\",\"started\":0}\r\n\
                  \t{ \"at\":\t1.5,\t\"type\": \"noted\",\"text\":\"a\\tb\" }\t\r\n";
    let page = page(edited.as_bytes());

    assert!(page.notes().is_empty(), "{:?}", page.notes());
    let shown = events(&html(&page));
    assert_eq!(shown, [json!({"at": 1.5, "type": "noted", "text": "a\tb"})]);
}

#[test]
fn that_cannot_be_read_is_an_error_or_a_note() {
    use cogwork_trace::{Page, RecordReader};

    let newer = b"{\"cogwork_record\":2,\"run\":\"r\",\"flow\":\"f\",\"started\":0}\n";
    let error = RecordReader::new(newer.as_slice()).unwrap_err();
    assert!(error.to_string().contains("version"), "{error}");

    let mut damaged = record(&header(), [note("a")]);
    for _ in 0..8 {
        damaged.extend_from_slice(b"{\"at\":[],\"type\":\"noted\"}\n");
    }
    damaged.extend_from_slice(&record(&header(), [note("b")])[..]);

    let reader = RecordReader::new(damaged.as_slice()).unwrap();
    let page = Page::read(reader).unwrap();
    let listed = page
        .notes()
        .iter()
        .filter(|note| note.starts_with("Not shown: line "));
    assert_eq!(listed.count(), 5, "{:?}", page.notes());
    assert_eq!(events(&html(&page)).len(), 2);
}
