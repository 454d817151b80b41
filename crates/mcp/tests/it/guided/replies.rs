//! Replies that are repaired or refused, and the questions that follow.

use serde_json::json;

use super::mind::Mind;
use super::support::Host;

#[tokio::test]
async fn an_unusable_reply_is_refused_with_its_place_and_asked_for_again() {
    let host = Host::new().await;
    let begun = host.begin(Mind::named("loop")).await;

    let broken = "```yaml\ncurrent_thinking: I begin.\nplanning:\n- description: Multiply\n  status: Soon\nnext_thought_needed: true\n```";
    let again = host.reason(begun.reply(broken)).await;

    let question = &again.question().text;
    let problem = "line 5: `/planning/0/status`: found the text \"Soon\"; expected one of Pending, \
                   Done, Verification Needed";
    assert!(question.contains(problem), "{question}");
    // Only the complaint is new.
    assert!(!question.contains("[system]"), "{question}");
    assert_eq!((again.replies, again.thoughts), (1, 0));
}

#[tokio::test]
async fn a_refusal_of_a_strategy_names_what_is_missing() {
    let host = Host::new().await;
    let begun = host.begin(Mind::named("step_back")).await;
    let incomplete = begun.reply("thought: Hm.\nquestion: What?");
    let again = host.reason(incomplete).await;

    let question = &again.question().text;
    let problem = "`principle` is missing; expected a text";
    assert!(question.contains(problem), "{question}");
    let usable = again.reply("question: What?\nprinciple: That.");
    let next = host.reason(usable).await;
    assert!(!next.text.contains("cannot be used"), "{}", next.text);
}

#[tokio::test]
async fn repairs_are_reported_once() {
    let host = Host::new().await;
    let first = host.begin(Mind::named("loop")).await;

    let untidy = "```yaml\ncurrent_thinking: |\n  I begin.\nplanning:\n- description: Conclusion\n  Status: DONE\nnext_thought_needed: yes\n```";
    let next = host.reason(first.reply(untidy)).await;

    assert!(next.text.contains("Repaired: line 6: "), "{}", next.text);
    assert!(next.text.contains("Repaired: line 7: "), "{}", next.text);
    assert_eq!(next.thoughts, 1);
    assert!(!host.look(&first).await.text.contains("Repaired"));
}

#[tokio::test]
async fn a_reply_may_be_an_object() {
    let host = Host::new().await;

    let begun = host.begin(Mind::named("step_back")).await;
    let object =
        json!({"thought": "A product.", "question": "How far?", "principle": "n * length"});
    let next = host.reason(begun.reply(object)).await;
    assert!(!next.text.contains("cannot be used"), "{}", next.text);

    let begun = host.begin(Mind::named("loop")).await;
    let object = json!({
        "current_thinking": "I begin.",
        "planning": [{"description": "Conclusion", "status": "Pending"}],
        "next_thought_needed": true,
    });
    let next = host.reason(begun.reply(object)).await;
    assert_eq!(next.thoughts, 1, "{}", next.text);
}

#[tokio::test]
async fn only_what_is_new_is_asked_and_everything_is_shown_again() {
    let host = Host::new().await;
    let mind = Mind::named("chain_of_thought");
    let first = host.begin(mind).await;
    assert!(first.question().text.starts_with("[system]\n"));

    let second = host.answer(mind, &first).await;
    let question = &second.question().text;
    assert!(!question.contains("[system]"), "{question}");

    let whole = host.look(&second).await;
    let shown = &whole.question().text;
    assert!(shown.starts_with("[system]\n"), "{shown}");
    assert!(shown.contains(mind.reply(first.question())), "{shown}");
    assert!(shown.ends_with(question), "{shown}");
    assert_eq!(whole.question().id, second.question().id);
}

#[tokio::test]
async fn a_text_for_the_model_says_how_to_reply() {
    let host = Host::new().await;
    let mut arguments = Mind::named("self_ask").beginning();
    arguments["sessionId"] = json!("trips");
    let asked = host.reason(arguments).await;
    insta::assert_snapshot!(asked.text);

    let tool_calls = "```yaml\ntool_calls:\n- name: height\n  arguments: {of: Galdhøpiggen}\n- name: height\n  arguments: {of: Snøhetta}\n```";
    let mut arguments = Mind::named("loop").beginning();
    arguments["tools"] = Mind::named("react").beginning()["tools"].clone();
    arguments["sessionId"] = json!("mountains");
    let begun = host.reason(arguments).await;
    let called = host.reason(begun.reply(tool_calls)).await;
    insta::assert_snapshot!(called.text);

    let ended = host
        .reason(asked.reply("thought: Three times.\nanswer: 51 km"))
        .await;
    insta::assert_snapshot!(ended.text);
}

#[tokio::test]
async fn the_text_of_a_result_is_safe_to_print() {
    let host = Host::new().await;
    let problem = "Two\tlines:\n\u{1b}[31mred\u{202e} \u{7}?";

    let begin = json!({"problem": problem, "strategy": "self_ask"});
    let begun = host.reason(begin).await;
    let expected = "Two\tlines:\n\u{fffd}[31mred\u{fffd} \u{fffd}?";
    assert!(begun.text.contains(expected), "{}", begun.text);

    let reply = begun.reply("answer: \u{1b}[2J");
    let ended = host.reason(reply.clone()).await;
    assert!(ended.is_answered(), "{}", ended.text);
    let late = host.refused(reply).await;
    assert!(late.contains("\u{fffd}[2J") && !late.contains('\u{1b}'));
}
