//! Sessions that are stopped early.

use serde_json::{Value, json};

use super::mind::{MINDS, Mind};
use super::support::{Host, finish};

/// Answers questions up to the maximum number of calls. Returns the last result.
async fn go_on(host: &Host, mind: &Mind, calls: usize) -> Value {
    let mut view = host.begin(mind.beginning()).await;
    for _ in 0..calls {
        if view["status"] == "open" {
            let replies = mind.replies(&view);
            view = host.answer(json!({"replies": replies})).await;
        }
    }
    view
}

#[tokio::test]
async fn a_session_can_be_concluded_at_any_time() {
    let mut host = Host::new().await;
    for mind in &MINDS {
        for calls in 0..10 {
            let before = go_on(&host, mind, calls).await;
            if before["status"] != "open" {
                break;
            }

            let session = before["sessionId"].clone();
            let asked = host.answer(json!({"conclude": true})).await;
            let place = format!("{} after {calls}: {asked}", mind.strategy);
            let questions = asked["questions"].as_array().expect("a list").len();
            assert!(questions <= 1, "{place}");

            // The last question survives a restart, too.
            host.restart().await;
            let resumed = host.answer(json!({"sessionId": session})).await;
            assert_eq!(resumed["questions"], asked["questions"], "{place}");

            let ended = finish(&host, mind, asked).await;
            assert!(ended["answer"].is_string(), "{place}\n{ended}");

            // If only the conclusion was left, the loop is complete.
            if ended["status"] != "answered" {
                assert_eq!(ended["status"], "stopped", "{place}");
                assert_eq!(ended["end"], "stopped early, as asked", "{place}");
            }
        }
    }
}

#[tokio::test]
async fn concluding_twice_ends_at_once() {
    let host = Host::new().await;
    let mind = Mind::named("loop");

    let view = go_on(&host, mind, 1).await;
    assert_eq!(view["status"], "open");
    host.answer(json!({"conclude": true})).await;
    let ended = host.answer(json!({"conclude": true})).await;

    assert_eq!(ended["status"], "stopped");
    assert_eq!(ended["questions"], json!([]));
    assert_eq!(ended["answer"], "Three times 17 km.\n");

    let refused = host.refused("answer", json!({"conclude": true})).await;
    assert!(refused.starts_with("the session has ended"), "{refused}");
    assert!(
        refused.contains("Best answer so far: Three times 17 km."),
        "{refused}"
    );
}

#[tokio::test]
async fn replies_and_a_conclusion_in_one_call_are_refused() {
    let host = Host::new().await;
    host.begin(Mind::named("linear").beginning()).await;

    let call = json!({"conclude": true, "reply": "a reply"});
    let refused = host.refused("answer", call).await;

    assert_eq!(
        refused,
        "`conclude` withdraws the open questions; send it without replies"
    );
}
