//! Several questions, several clients, and sessions of other versions.

use cogwork_mcp::Server;
use serde_json::json;

use super::mind::Mind;
use super::support::{Host, View};
use crate::support::Client;

const TOOL_CALLS: &str = "```yaml\ntool_calls:\n- name: height\n  arguments: {of: Galdhøpiggen}\n- name: height\n  arguments: {of: Snøhetta}\n```";

/// Begins a session of the loop that waits for two tools.
async fn with_tool_calls(host: &Host) -> View {
    let mut arguments = Mind::named("loop").beginning();
    arguments["tools"] = Mind::named("react").beginning()["tools"].clone();
    host.reason(arguments).await;
    host.reason(json!({"reply": TOOL_CALLS})).await
}

#[tokio::test]
async fn several_questions_are_answered_out_of_order_and_tools_may_fail() {
    let mut host = Host::new().await;
    let called = with_tool_calls(&host).await;
    let [first, second] = called.ids()[..] else {
        panic!("two questions: {}", called.text);
    };

    // Without an id, it isn't clear which one is meant.
    let refused = host.refused(json!({"reply": "2469"})).await;
    assert!(
        refused.starts_with("several questions are open: "),
        "{refused}"
    );

    let failed = json!({"replies": {second: "not on the map"}, "failed": true});
    let left = host.reason(failed).await;
    assert_eq!(left.ids(), [first]);

    host.restart().await;
    let output = json!({"sessionId": called.session, "reply": "2469"});
    let next = host.reason(output).await;
    let question = &next.questions[0].text;
    assert!(
        question.contains("2469") && question.contains("not on the map"),
        "{question}"
    );
    assert_eq!(next.replies, 1);
}

#[tokio::test]
async fn a_reply_with_other_settings_is_refused() {
    let host = Host::new().await;
    host.begin(Mind::named("linear")).await;
    let strategy = json!({"reply": "thought: x", "strategy": "step_back"});
    let max_replies = json!({"reply": "thought: x", "maxReplies": 3});

    for (call, expected) in [
        (
            strategy,
            "`strategy`: found `step_back`, but the session follows `linear`",
        ),
        (
            max_replies,
            "`maxReplies` is 100 since the session began; expected no other",
        ),
    ] {
        let refused = host.refused(call).await;
        assert!(refused.starts_with(expected), "{refused}");
    }
}

#[tokio::test]
async fn replies_to_old_and_unknown_questions_are_refused() {
    let host = Host::new().await;
    let mind = Mind::named("linear");
    let first = host.begin(mind).await;
    let next = host.reply_all(mind, &first).await;
    let open = next.ids()[0];

    for question in [first.ids()[0], "q2-000000", "", "q99", "\u{1b}[31m"] {
        let call = json!({"replies": {question: "thought: Again."}});
        let refused = host.refused(call).await;
        let expected = format!("or was never asked; expected `{open}`");
        assert!(refused.ends_with(&expected), "{refused}");
        assert!(!refused.contains('\u{1b}'));
    }

    // What can be used is used.
    let replies = json!({open: mind.reply(&next.questions[0]), "q99": "thought: Again."});
    let view = host.reason(json!({"replies": replies})).await;
    assert!(view.text.starts_with("Not accepted: the question `q99`"));
    assert_eq!(view.replies, 2);
}

#[tokio::test]
async fn only_the_call_of_a_tool_can_fail() {
    let host = Host::new().await;
    host.begin(Mind::named("linear")).await;

    let call = json!({"reply": "no idea", "failed": true});
    let refused = host.refused(call).await;
    assert_eq!(refused, "only the call of a tool can fail; write a reply");
}

#[tokio::test]
async fn two_clients_can_work_on_one_session() {
    let server = Server::builder().open().expect("the server opens");
    let one = Client::of(&server).await;
    let other = Client::of(&server).await;
    let mind = Mind::named("chain_of_thought");

    let view = View::of(&one.accepted("reason", mind.beginning()).await);
    let question = &view.questions[0];
    let replies = json!({question.id.as_str(): mind.reply(question)});
    let reply = json!({"sessionId": view.session, "replies": replies});
    let (first, second) = tokio::join!(
        one.call("reason", reply.clone()),
        other.call("reason", reply)
    );

    let refused = [&first, &second].map(|result| result.is_error == Some(true));
    assert!(
        refused.contains(&true) && refused.contains(&false),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_session_whose_questions_differ_is_refused() {
    let mut host = Host::new().await;
    let mind = Mind::named("linear");
    let view = host.begin(mind).await;
    host.reply_all(mind, &view).await;

    // As if an earlier version had asked another question.
    host.edit("UPDATE entries SET body = replace(body, 'q1-', 'q1-0') WHERE number = 2");
    host.restart().await;
    let look = json!({"sessionId": view.session});
    let refused = host.refused(look.clone()).await;
    assert!(refused.ends_with("begin a new session"), "{refused}");

    // Nothing was lost.
    host.edit("UPDATE entries SET body = replace(body, 'q1-0', 'q1-') WHERE number = 2");
    let view = host.reason(look).await;
    assert_eq!(host.finish(mind, view).await.answer(), Some(mind.answer));
}
