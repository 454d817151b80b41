//! Servers that are killed in the middle of a session.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::mind::{MINDS, Mind};
use super::support::View;
use crate::process::{self, Process};

/// Calls the tool, and returns what the host reads, or `None` for a refusal.
fn reason(process: &mut Process, arguments: &Value) -> Option<View> {
    let result = process.call("reason", arguments);
    let text = result["content"][0]["text"].as_str().expect("a text");
    (result["isError"] != json!(true)).then(|| View::of(text))
}

fn reply(mind: &Mind, view: &View) -> Value {
    view.reply(mind.reply(view.question()))
}

/// How often the server is killed in a session.
const KILLS: u64 = 3;

/// Replies to one question after another. The server is killed while it reads the first replies, a
/// bit later each time.
fn solve_with_kills(mind: &Mind, delay: u64) -> View {
    let folder = tempfile::tempdir().expect("a folder");
    let mut beginning = mind.beginning();
    beginning["sessionId"] = json!("killed");

    let mut process = Process::start(process::server(folder.path()));
    let mut view = reason(&mut process, &beginning).expect("a session");
    for kill in 0..KILLS {
        process.send(2, "reason", &reply(mind, &view));
        // Any moment will do, so nothing is expected of the clock.
        thread::sleep(Duration::from_micros((kill + delay) * 500));
        drop(process);

        process = Process::start(process::server(folder.path()));
        let found = reason(&mut process, &json!({"sessionId": "killed"}));
        let found = found.expect("the session");
        assert!(found.replies >= view.replies, "{}", found.text);
        if !found.is_open() {
            return found;
        }
        view = reason(&mut process, &reply(mind, &found)).expect("an open question");
        if !view.is_open() {
            return view;
        }
    }

    while view.is_open() {
        view = reason(&mut process, &reply(mind, &view)).expect("an open question");
    }
    view
}

#[test]
fn no_reply_that_was_acknowledged_is_lost() {
    for (mind, delay) in MINDS.iter().zip(0..) {
        let ended = solve_with_kills(mind, delay);
        assert!(ended.is_answered(), "{}: {}", mind.strategy, ended.text);
        assert_eq!(ended.answer(), Some(mind.answer), "{}", mind.strategy);
    }
}
