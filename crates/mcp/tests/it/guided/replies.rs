//! Replies that are repaired or refused, and the questions that follow.

use cogwork_mcp::{Server, ServerLimits};
use serde_json::{Value, json};

use super::mind::Mind;
use super::support::{Host, ids, last_message};
use crate::support::{call, text};

#[tokio::test]
async fn an_unusable_reply_is_refused_with_its_place_and_asked_for_again() {
    let host = Host::new().await;
    let first = host.begin(Mind::named("loop").beginning()).await;

    let broken = "```yaml\ncurrent_thinking: I begin.\nplanning:\n- description: Multiply\n  status: Soon\nnext_thought_needed: true\n```";
    let again = host.answer(json!({"reply": broken})).await;

    assert_eq!(again["status"], "open");
    let question = &again["questions"][0];
    assert_eq!(question["askedAgain"], ids(&first)[0].as_str());
    assert_eq!(
        question["problem"],
        "line 5: `/planning/0/status`: found the text \"Soon\"; expected one of Pending, Done, \
         Verification Needed"
    );

    // Only the complaint is new.
    assert_eq!(question["messages"].as_array().map(Vec::len), Some(1));
    assert_ne!(question["earlierMessages"], 0);
    assert_eq!(again["budget"]["thoughts"], 0);
    assert_eq!(again["budget"]["replies"], 1);
}

#[tokio::test]
async fn each_refusal_of_a_strategy_names_what_is_missing() {
    let host = Host::new().await;
    let first = host.begin(Mind::named("step_back").beginning()).await;
    let again = host
        .answer(json!({"reply": "thought: Hm.\nquestion: What?"}))
        .await;

    let question = &again["questions"][0];
    assert_eq!(question["askedAgain"], ids(&first)[0].as_str());
    let problem = question["problem"].as_str().expect("a problem");
    assert!(
        problem.contains("`principle` is missing; expected a text"),
        "{problem}"
    );

    // A usable reply continues with the next question, which isn't asked again.
    let usable = "question: What?\nprinciple: That.";
    let next = host.answer(json!({"reply": usable})).await;
    assert_eq!(next["questions"][0]["askedAgain"], Value::Null);
    assert_eq!(next["questions"][0]["problem"], Value::Null);
}

#[tokio::test]
async fn repairs_are_reported() {
    let host = Host::new().await;
    host.begin(Mind::named("loop").beginning()).await;

    let untidy = "```yaml\ncurrent_thinking: |\n  I begin.\nplanning:\n- description: Conclusion\n  Status: DONE\nnext_thought_needed: yes\n```";
    let next = host.answer(json!({"reply": untidy})).await;

    let repairs = next["repairs"].as_array().expect("repairs");
    let repairs: Vec<_> = repairs.iter().filter_map(Value::as_str).collect();
    assert!(
        repairs.iter().any(|repair| repair.starts_with("line 6: ")),
        "{repairs:?}"
    );
    assert!(
        repairs.iter().any(|repair| repair.starts_with("line 7: ")),
        "{repairs:?}"
    );
    assert_eq!(next["thoughts"][0]["number"], 1);

    // They are reported once.
    assert_eq!(host.answer(json!({})).await["repairs"], Value::Null);
}

#[tokio::test]
async fn a_reply_may_be_an_object() {
    let host = Host::new().await;

    host.begin(Mind::named("step_back").beginning()).await;
    let object =
        json!({"thought": "A product.", "question": "How far?", "principle": "n * length"});
    let next = host.answer(json!({"reply": object})).await;
    assert_eq!(next["questions"][0]["problem"], Value::Null, "{next}");

    host.begin(Mind::named("loop").beginning()).await;
    let object = json!({
        "current_thinking": "I begin.",
        "planning": [{"description": "Conclusion", "status": "Pending"}],
        "next_thought_needed": true,
    });
    let next = host.answer(json!({"reply": object})).await;
    assert_eq!(next["budget"]["thoughts"], 1, "{next}");
}

#[tokio::test]
async fn a_reply_that_is_too_long_changes_nothing() {
    let limits = ServerLimits {
        thought_bytes: 1_000,
        ..ServerLimits::default()
    };
    let host = Host::with(Server::builder().with_limits(limits)).await;
    let before = host.begin(Mind::named("linear").beginning()).await;

    let long = "x".repeat(1_001);
    let refused = host.refused("answer", json!({"reply": long})).await;
    assert_eq!(
        refused,
        "`reply` is 1001 bytes long, expected at most 1000 bytes"
    );

    let after = host.answer(json!({})).await;
    assert_eq!(after["questions"][0]["id"], before["questions"][0]["id"]);
    assert_eq!(after["budget"]["replies"], 0);
}

#[tokio::test]
async fn only_what_is_new_is_shown_and_everything_on_demand() {
    let host = Host::new().await;
    let mind = Mind::named("chain_of_thought");
    let first = host.begin(mind.beginning()).await;
    assert_eq!(first["questions"][0]["messages"][0]["role"], "system");

    let second = host.answer(json!({"replies": mind.replies(&first)})).await;
    let question = &second["questions"][0];
    assert_eq!(question["messages"].as_array().map(Vec::len), Some(1));
    assert_eq!(question["earlierMessages"], 3);

    let hint = r#"Earlier messages are left out; `answer` {"full": true} shows them."#;
    let again = call(&host.client, "answer", json!({})).await;
    assert!(text(&again).contains(hint), "{}", text(&again));
    let full = call(&host.client, "answer", json!({"full": true})).await;
    assert!(!text(&full).contains(hint), "{}", text(&full));

    let whole = host.answer(json!({"full": true})).await;
    let messages = &whole["questions"][0]["messages"];
    assert_eq!(messages.as_array().map(Vec::len), Some(4));
    assert_eq!(messages[0], first["questions"][0]["messages"][0]);
    assert_eq!(messages[2]["text"], mind.reply(&first["questions"][0]));
    assert_eq!(last_message(&whole["questions"][0]), last_message(question));
}

#[tokio::test]
async fn a_text_for_the_model_says_how_to_reply() {
    let host = Host::new().await;
    let mut arguments = Mind::named("self_consistency").beginning();
    arguments["sessionId"] = json!("trips");

    let result = call(&host.client, "begin", arguments).await;
    insta::assert_snapshot!(text(&result), @r#"
    Question q1-60a5dc:
    [system]
    You solve a problem by reasoning step by step, and then give the answer.

    [user]
    The problem:
    How far do three trips of 17 km go?

    Reason step by step to the answer.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    answer: the answer alone, as short as can be, with its unit if it has one (a text)

    Question q2-60a5dc:
    The same question as q1-60a5dc. Answer it independently of the other replies.

    Question q3-60a5dc:
    The same question as q1-60a5dc. Answer it independently of the other replies.

    Question q4-60a5dc:
    The same question as q1-60a5dc. Answer it independently of the other replies.

    Question q5-60a5dc:
    The same question as q1-60a5dc. Answer it independently of the other replies.

    Reply with `answer` {"sessionId": "trips", "replies": [{"question": "q1-60a5dc", "reply": "…"}, {"question": "q2-60a5dc", "reply": "…"}, {"question": "q3-60a5dc", "reply": "…"}, {"question": "q4-60a5dc", "reply": "…"}, {"question": "q5-60a5dc", "reply": "…"}]}.
    The questions are independent, and can be answered one by one or together.
    Session trips (self_consistency): 0 of 100 replies, 2 of 100 thoughts, 0 of 1000000 tokens, 0 of 86400 seconds.
    "#);
}

#[tokio::test]
async fn the_trace_has_every_thought_in_full() {
    let host = Host::new().await;
    let mind = Mind::named("self_ask");
    let view = host.begin(mind.beginning()).await;

    let long = "because ".repeat(200);
    let reply = format!("thought: {long}\nanswer: 42");
    let ended = host
        .answer(json!({"replies": [{"question": ids(&view)[0], "reply": reply}]}))
        .await;
    let thoughts = ended["thoughts"].to_string();
    assert!(!thoughts.contains(long.trim()), "{thoughts}");

    let traced = host.answer(json!({"trace": true})).await;
    let thoughts = traced["thoughts"].to_string();
    assert!(thoughts.contains(long.trim()), "{thoughts}");
    assert!(thoughts.contains("How far do three trips"), "{thoughts}");
}

#[tokio::test]
async fn the_text_of_a_result_is_safe_to_print() {
    let host = Host::new().await;
    let problem = "Two\tlines:\n\u{1b}[31mred\u{202e} \u{7}?";
    let strategy = "self_ask";

    let call_of = json!({"problem": problem, "strategy": strategy});
    let result = call(&host.client, "begin", call_of).await;
    assert!(text(&result).contains("Two\tlines:\n\u{fffd}[31mred\u{fffd} \u{fffd}?"));
    let data = result.structured_content.expect("data").to_string();
    assert!(data.contains("\\u001b"), "{data}");

    let ended = host.answer(json!({"reply": "answer: \u{1b}[2J"})).await;
    assert_eq!(ended["status"], "answered");
    let late = host.refused("answer", json!({"reply": "answer: 1"})).await;
    assert!(late.contains("\u{fffd}[2J") && !late.contains('\u{1b}'));
}
