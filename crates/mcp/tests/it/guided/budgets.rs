//! The budget of a session, and the time that the host takes.

use std::time::Duration;

use serde_json::{Value, json};

use super::mind::{MINDS, Mind};
use super::support::{Host, finish};

/// Begins a session with a budget.
async fn begin(host: &Host, mind: &Mind, budget: Value) -> Value {
    let mut arguments = mind.beginning();
    arguments["budget"] = budget;
    host.begin(arguments).await
}

#[tokio::test]
async fn no_session_takes_more_replies_than_its_budget() {
    let host = Host::new().await;
    for mind in &MINDS {
        for replies in 1..6 {
            let view = begin(&host, mind, json!({"replies": replies})).await;
            let ended = finish(&host, mind, view).await;

            let place = format!("{} with {replies}: {ended}", mind.strategy);
            assert!(
                ended["budget"]["replies"].as_u64() <= Some(replies),
                "{place}"
            );
            assert_ne!(ended["status"], "failed", "{place}");
            assert!(ended["answer"].is_string(), "{place}");
        }
    }
}

#[tokio::test]
async fn thoughts_and_tokens_are_limited() {
    let host = Host::new().await;
    for mind in &MINDS {
        let view = begin(&host, mind, json!({"thoughts": 2})).await;
        let ended = finish(&host, mind, view).await;
        assert_eq!(ended["status"], "stopped", "{}: {ended}", mind.strategy);

        let view = begin(&host, mind, json!({"tokens": 3_000})).await;
        let ended = finish(&host, mind, view).await;
        assert!(ended["budget"]["tokens"].as_u64() <= Some(3_000), "{ended}");
    }
}

#[tokio::test]
async fn a_model_that_never_gives_a_usable_reply_fails_the_session() {
    let host = Host::new().await;
    let mut view = host.begin(Mind::named("step_back").beginning()).await;

    while view["status"] == "open" {
        let question = view["questions"][0]["id"].clone();
        view = host
            .answer(json!({"question": question, "reply": ""}))
            .await;
    }

    assert_eq!(view["status"], "failed");
    assert_eq!(view["budget"]["replies"], 9);
    let end = view["end"].as_str().expect("a reason");
    assert!(
        end.starts_with(
            "stage `abstraction`: no reply could be used: line 1: the reply is empty; expected lines with `thought: …`, `question: …`"
        ),
        "{end}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_with_the_best_answer_when_its_time_is_over() {
    let mut host = Host::new().await;
    let mind = Mind::named("chain_of_thought");
    let mut view = begin(&host, mind, json!({"seconds": 100})).await;

    for _ in 0..2 {
        tokio::time::advance(Duration::from_secs(20)).await;
        view = host.answer(json!({"replies": mind.replies(&view)})).await;
        assert_eq!(view["status"], "open", "{view}");
    }
    assert_eq!(view["budget"]["seconds"], 40);

    tokio::time::advance(Duration::from_secs(60)).await;
    let late = host.answer(json!({"replies": mind.replies(&view)})).await;
    assert_eq!(late["status"], "stopped");
    assert_eq!(late["end"], "the budget of 100 seconds is spent");
    assert_eq!(late["answer"], "58");
    assert_eq!(late["budget"]["replies"], 2);

    // The end is on record.
    host.restart().await;
    let session = late["sessionId"].clone();
    let ended = host.answer(json!({"sessionId": session})).await;
    assert_eq!(ended["end"], late["end"]);
}

#[tokio::test(start_paused = true)]
async fn looking_at_a_session_whose_time_is_over_ends_it() {
    let host = Host::new().await;
    begin(&host, Mind::named("self_ask"), json!({"seconds": 10})).await;

    tokio::time::advance(Duration::from_secs(9)).await;
    assert_eq!(host.answer(json!({})).await["status"], "open");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(host.answer(json!({})).await["status"], "stopped");
}

#[tokio::test(start_paused = true)]
async fn the_last_question_is_asked_while_there_is_time_for_a_reply() {
    let host = Host::new().await;
    let mind = Mind::named("self_ask");
    let view = begin(&host, mind, json!({"seconds": 100})).await;

    // A reply took 80 seconds, so there is no time for two more.
    tokio::time::advance(Duration::from_secs(80)).await;
    let asked = host.answer(json!({"replies": mind.replies(&view)})).await;
    let messages = asked["questions"][0]["messages"].to_string();
    assert!(messages.contains("this is the last question"), "{asked}");

    let ended = finish(&host, mind, asked).await;
    assert_eq!(ended["answer"], "about fifty");
    assert_eq!(ended["end"], "the budget of 100 seconds is spent");
}

#[tokio::test]
async fn a_budget_is_bounded() {
    let host = Host::new().await;

    let more = json!({"problem": "2 + 2?", "budget": {"replies": 1_001}});
    assert_eq!(
        host.refused("begin", more).await,
        "`budget.replies` is 1001, expected an integer from 1 to 1000"
    );
    let unknown = json!({"problem": "2 + 2?", "budget": {"calls": 3}});
    assert_eq!(
        host.refused("begin", unknown).await,
        "`budget.calls` is not an argument of this call, expected `replies`, `seconds`, `thoughts` or `tokens`"
    );
}
