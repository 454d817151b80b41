//! The chat in the browser, over HTTP as its page speaks it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do, and a key that is missing in JSON is null"
)]

use std::io::{BufRead, BufReader, Read};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::tickets::{Address, Service, post, send};

/// Returns the reasons and events of all waits so far, once there are so many.
fn waits(address: &Address, count: usize) -> Vec<(String, Value)> {
    let request = "GET /api/run/events?id=chat-1 HTTP/1.1\r\nHost: service\r\n\r\n";
    let stream = send(address, request).unwrap();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);

    let events = lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok());
    let waits = events.filter(|event: &Value| event["type"] == "paused");
    let waits = waits.map(|event| (event["why"].as_str().unwrap().to_owned(), event));
    waits.take(count).collect()
}

#[test]
fn a_tool_is_called_once_a_person_has_approved_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("chats");
    let mut service = Service::start("chat_in_the_browser", &store);
    let address = Address::new(Mutex::new(service.address));

    let mut page = String::new();
    let request = "GET / HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n";
    send(&address, request)
        .unwrap()
        .read_to_string(&mut page)
        .unwrap();
    assert!(page.contains("<title>Chat</title>"), "{page}");

    let start = json!({"flow": "chat", "id": "chat-1", "input": ""});
    assert_eq!(post(&address, "/runs", &start), 200);
    let answer = |number: usize, answer: Value| {
        let waits = waits(&address, number);
        let (why, wait) = waits.last().unwrap();
        let step = &wait["waits_at"];
        let body = json!({"id": "chat-1", "event": wait["event"], "step": step, "answer": answer});
        assert_eq!(post(&address, "/run/answers", &body), 200, "{why}");
        why.clone()
    };

    assert_eq!(answer(1, json!("What is order 7?")), "");
    let looked_up = answer(2, json!("Please refund order 7."));
    assert_eq!(looked_up, "Order 7 is a cup for 12 euros.");

    // The approval survives a kill.
    waits(&address, 3);
    service.kill();
    service = Service::start("chat_in_the_browser", &store);
    *address.lock().unwrap() = service.address;

    let approval = answer(3, json!(true));
    assert!(approval.contains("refund"), "{approval}");
    let (refunded, _) = waits(&address, 4).pop().unwrap();
    assert_eq!(refunded, "Order 7 was refunded.");
    service.kill();
}
