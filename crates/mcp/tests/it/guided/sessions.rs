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
    let begun = host.reason(arguments).await;
    host.reason(begun.reply(TOOL_CALLS)).await
}

#[tokio::test]
async fn several_tools_are_called_one_after_another_and_may_fail() {
    let mut host = Host::new().await;
    let first = with_tool_calls(&host).await;
    let second = host.reason(first.reply("2469")).await;

    host.restart().await;
    let mut failed = second.reply("not on the map");
    failed["failed"] = json!(true);
    let next = host.reason(failed).await;
    let question = &next.question().text;
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
async fn a_reply_is_only_taken_for_the_open_question() {
    let host = Host::new().await;
    let mind = Mind::named("linear");
    let first = host.begin(mind).await;
    let next = host.answer(mind, &first).await;
    let open = &next.question().id;

    // The first one is what a call that is repeated has.
    for question in [&*first.question().id, "q2-000000", "", "q99", "\u{1b}[31m"] {
        let call = json!({"question": question, "reply": "thought: Again."});
        let refused = host.refused(call).await;
        let expected = format!("which isn't open; expected one for `{open}`");
        assert!(refused.ends_with(&expected), "{refused}");
        assert!(!refused.contains('\u{1b}'));
    }
    let refused = host.refused(json!({"reply": "thought: Again."})).await;
    let expected = "`question` is missing; expected the id of the open question";
    assert_eq!(refused, expected);

    assert_eq!(host.answer(mind, &next).await.replies, 2);
}

#[tokio::test]
async fn a_session_that_was_removed_is_no_longer_the_current_one() {
    let tools = ["reason", "think_session"];
    let host = Host::with(Server::builder().with_built_in_tools(tools)).await;
    let begun = host.begin(Mind::named("linear")).await;
    let remove = json!({"operation": "remove", "sessionId": begun.session});
    host.client.accepted("think_session", remove).await;

    let list = host.client.accepted("reason", json!({})).await;
    assert_eq!(list, "There are no sessions.");
    let refused = host
        .refused(json!({"question": "q1", "reply": "On."}))
        .await;
    assert!(refused.starts_with("there is no current session; expected `problem`"));
}

#[tokio::test]
async fn only_the_call_of_a_tool_can_fail() {
    let host = Host::new().await;
    let begun = host.begin(Mind::named("linear")).await;

    let mut call = begun.reply("no idea");
    call["failed"] = json!(true);
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
    let reply = view.reply(mind.reply(view.question()));
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
    host.answer(mind, &view).await;

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
