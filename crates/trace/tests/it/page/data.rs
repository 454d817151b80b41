//! The record inside a page.

use cogwork_flow::{Flow, from_fn};
use cogwork_journal::Store;
use cogwork_trace::Page;
use serde_json::{Value, json};

use super::{data, events, header, html, length, note, page, record};

#[test]
fn of_a_small_run_is_plain_json() {
    let mut header = header();
    header["forked_from"] = json!({"run_id": "order-16", "step": 2, "edited_state": true});
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
    // A crash has cut it off.
    record.push("{\"at\":2,\"ty".to_owned());

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
    assert!(html.len() < length(&record), "{} bytes", html.len());

    let shown: Vec<_> = events(&html);
    let shown: Vec<_> = shown.iter().map(|event| event["text"].clone()).collect();
    let expected: Vec<_> = texts.into_iter().map(Value::from).collect();
    assert_eq!(shown, expected);
}

/// A person may have edited an event, with an editor that ends lines as Windows does.
#[test]
fn of_an_edited_run_is_json() {
    let edited = "\t{ \"at\":\t1.5,\t\"type\": \"noted\",\"text\":\"a\\tb\" }\t\r";
    let page = page(&[header().to_string(), edited.to_owned()]);

    let shown = events(&html(&page));
    assert_eq!(shown, [json!({"at": 1.5, "type": "noted", "text": "a\tb"})]);
}

#[tokio::test]
async fn that_does_not_exist_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let flow = Flow::from_node("greet", from_fn(|_: &mut u32| ())).unwrap();
    let refused = async |run_id| Page::of_run(&store, run_id).await.unwrap_err().to_string();
    drop(store.start("silent", &flow, &0).await.unwrap());
    insta::assert_snapshot!(refused("silent").await, @"no events of the run `silent` are on record; expected a run without `--no-events`, or of a program with a `RunRecorder`");
    assert!(refused("other").await.contains("`other`"));
}
