//! Each strategy, from its first question to its answer.

use serde_json::{Value, json};

use super::mind::{MINDS, Mind};
use super::support::Host;

/// Solves a problem by answering the first open question, and returns the last result.
async fn solve(mind: &Mind) -> Value {
    let host = Host::new().await;
    let mut view = host.begin(mind.beginning()).await;
    for _ in 0..50 {
        if view["status"] != "open" {
            return view;
        }
        let question = &view["questions"][0];
        let reply = json!({"question": question["id"], "reply": mind.reply(question)});
        let call = json!({"sessionId": view["sessionId"], "replies": [reply]});
        view = host.answer(call).await;
    }
    panic!("the session doesn't end: {view}");
}

#[tokio::test]
async fn each_strategy_reaches_its_answer_question_by_question() {
    for mind in &MINDS {
        let last = solve(mind).await;

        assert_eq!(last["status"], "answered", "{}: {last}", mind.strategy);
        let answer = last["answer"].as_str().expect("an answer");
        assert_eq!(answer.trim(), mind.answer, "{}", mind.strategy);
    }
}
