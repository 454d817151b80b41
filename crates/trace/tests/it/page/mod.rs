//! Pages of runs, without a browser.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

mod assets;
mod data;
mod escaping;
mod large;

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cogwork_trace::Page;
use flate2::read::DeflateDecoder;
use serde_json::{Value, json};

fn header() -> Value {
    json!({"at": 0.0, "type": "opened", "run": "order-17", "flow": "shop", "started": 1763875000.5})
}

fn note(text: impl Into<String>) -> Value {
    json!({"step": "shop/pay#1", "at": 0.25, "type": "noted", "text": text.into()})
}

fn record(header: &Value, events: impl IntoIterator<Item = Value>) -> Vec<String> {
    let events = [header.clone()].into_iter().chain(events);
    events.map(|event| event.to_string()).collect()
}

fn length(record: &[String]) -> usize {
    record.iter().map(String::len).sum()
}

fn page(record: &[String]) -> Page {
    Page::from_events(record.to_vec()).unwrap()
}

fn html(page: &Page) -> String {
    let mut html = Vec::new();
    page.write(&mut html).unwrap();
    String::from_utf8(html).unwrap()
}

/// Returns the content of the first element that begins with this tag.
fn element<'a>(html: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = html.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

/// Returns the JSON in a page.
fn data(html: &str) -> &str {
    let start = r#"<script type="application/json" id="record">"#;
    element(html, start, "</script>")
}

/// Returns the events in a page, as a browser reads them.
fn events(html: &str) -> Vec<Value> {
    let data: Value = serde_json::from_str(data(html)).unwrap();
    let Some(packed) = data.get("packed").and_then(Value::as_str) else {
        let events = data.get("events").and_then(Value::as_array);
        return events.unwrap().clone();
    };

    let bytes = STANDARD.decode(packed).unwrap();
    let mut lines = String::new();
    let mut decoder = DeflateDecoder::new(bytes.as_slice());
    decoder.read_to_string(&mut lines).unwrap();

    let events = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    events.collect()
}
