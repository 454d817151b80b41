//! Each strategy, from its first question to its answer.

use serde_json::{Value, json};

use super::mind::{MINDS, Mind};
use super::support::{Host, comparable};

/// Answers the first open question.
fn one_by_one(mind: &Mind, view: &Value) -> Value {
    let question = &view["questions"][0];
    json!([{"question": question["id"], "reply": mind.reply(question)}])
}

/// Answers the last open question.
fn last_first(mind: &Mind, view: &Value) -> Value {
    let questions = view["questions"].as_array().expect("a list");
    let question = questions.last().expect("a question");
    json!([{"question": question["id"], "reply": mind.reply(question)}])
}

/// Solves a problem, and returns the results of all calls.
async fn solve(mind: &Mind, replies: fn(&Mind, &Value) -> Value, is_restarted: bool) -> Vec<Value> {
    let mut host = Host::new().await;
    let mut view = host.begin(mind.beginning()).await;
    let session = view["sessionId"].clone();
    let mut views = vec![comparable(view.clone())];

    while view["status"] == "open" {
        assert!(views.len() < 50, "{view}");
        if is_restarted {
            host.restart().await;
        }

        let replies = replies(mind, &view);
        view = host
            .answer(json!({"sessionId": session, "replies": replies}))
            .await;
        views.push(comparable(view.clone()));
    }
    views
}

#[tokio::test]
async fn each_strategy_reaches_its_answer_question_by_question() {
    for mind in &MINDS {
        let views = solve(mind, one_by_one, false).await;
        let last = views.last().expect("a view");

        assert_eq!(last["status"], "answered", "{}: {last}", mind.strategy);
        let answer = last["answer"].as_str().expect("an answer");
        assert_eq!(answer.trim(), mind.answer, "{}", mind.strategy);
    }
}

#[tokio::test]
async fn a_restart_after_every_call_changes_nothing() {
    for mind in &MINDS {
        let without = solve(mind, one_by_one, false).await;
        let with = solve(mind, one_by_one, true).await;
        assert_eq!(without, with, "{}", mind.strategy);
    }
}

#[tokio::test]
async fn the_order_of_the_replies_is_kept_over_restarts() {
    for strategy in ["rewoo", "self_consistency", "tree_of_thoughts"] {
        let mind = Mind::named(strategy);
        for replies in [last_first, Mind::replies] {
            let without = solve(mind, replies, false).await;
            let with = solve(mind, replies, true).await;
            assert_eq!(without, with, "{strategy}");
        }
    }
}
