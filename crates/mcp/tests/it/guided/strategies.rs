//! Each strategy, from its first question to its answer, within its budget.

use serde_json::json;

use super::mind::{MINDS, Mind};
use super::support::Host;

#[tokio::test]
async fn each_strategy_reaches_its_answer_question_by_question() {
    let host = Host::new().await;
    for mind in &MINDS {
        let mut view = host.begin(mind).await;
        while view.is_open() {
            view = host.answer(mind, &view).await;
        }

        assert!(view.is_answered(), "{}: {}", mind.strategy, view.text);
        assert_eq!(view.answer(), Some(mind.answer), "{}", mind.strategy);
    }
}

#[tokio::test]
async fn no_session_takes_more_replies_than_its_budget() {
    let host = Host::new().await;
    for mind in &MINDS {
        for replies in 1..6 {
            let mut arguments = mind.beginning();
            arguments["maxReplies"] = json!(replies);
            let view = host.reason(arguments).await;
            let ended = host.finish(mind, view).await;

            let place = format!("{} with {replies}: {}", mind.strategy, ended.text);
            assert!(ended.replies <= replies, "{place}");
            assert!(!ended.text.contains("has failed"), "{place}");
            assert!(ended.answer().is_some(), "{place}");
        }
    }
}

#[tokio::test]
async fn a_budget_is_called_nearly_spent_only_when_it_is() {
    let host = Host::new().await;
    let nearly = "this is the last question";
    for mind in &MINDS {
        let mut view = host.begin(mind).await;
        while view.is_open() {
            assert!(
                !view.text.contains(nearly),
                "{}: {}",
                mind.strategy,
                view.text
            );
            view = host.answer(mind, &view).await;
        }
    }

    let mind = Mind::named("linear");
    let mut arguments = mind.beginning();
    arguments["maxReplies"] = json!(2);
    let first = host.reason(arguments).await;
    let second = host.answer(mind, &first).await;
    assert!(second.text.contains(nearly), "{}", second.text);
}

#[tokio::test]
async fn a_session_can_be_concluded_at_any_time() {
    let mut host = Host::new().await;
    for mind in &MINDS {
        for (calls, answer) in [(0, None), (1, Some("about fifty")), (2, None)] {
            let mut view = host.begin(mind).await;
            for _ in 0..calls {
                view = host.answer(mind, &view).await;
            }

            let conclude = json!({"sessionId": view.session, "conclude": true, "reply": answer});
            let ended = host.reason(conclude.clone()).await;
            assert!(
                ended.text.contains("has ended: ended early, as asked"),
                "{}",
                ended.text
            );
            if answer.is_some() {
                assert_eq!(ended.answer(), answer);
            }

            // The end is on record.
            host.restart().await;
            assert_eq!(host.look(&ended).await, ended);
            let refused = host.refused(conclude).await;
            assert!(refused.starts_with("the session has ended"), "{refused}");
        }
    }
}

#[tokio::test]
async fn a_model_that_never_gives_a_usable_reply_fails_the_session() {
    let host = Host::new().await;
    let mut view = host.begin(Mind::named("step_back")).await;
    while view.is_open() {
        view = host.reason(view.reply("")).await;
    }

    assert_eq!(view.replies, 9);
    let expected = "The session has failed: stage `abstraction`: no reply could be used: line 1: \
                    the reply is empty; expected lines with `thought: …`, `question: …`";
    assert!(view.text.starts_with(expected), "{}", view.text);
}
