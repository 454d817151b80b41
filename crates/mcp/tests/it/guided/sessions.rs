//! Several questions, several clients, and sessions of other tools and versions.

use cogwork_mcp::Server;
use serde_json::{Value, json};

use super::mind::Mind;
use super::support::{Host, comparable, data, finish, ids, reply_to};
use crate::support::{call, client_of, text};

#[tokio::test]
async fn several_questions_are_answered_out_of_order() {
    let host = Host::new().await;
    let view = host
        .begin(Mind::named("self_consistency").beginning())
        .await;
    let questions = ids(&view);
    assert_eq!(questions.len(), 5);

    let mut left = questions.clone();
    for (question, answer) in [(3, "1"), (0, "2"), (4, "1")] {
        let reply = format!("answer: {answer}");
        let call = json!({"question": questions[question], "reply": reply});
        let view = host.answer(call).await;

        left.retain(|id| *id != questions[question]);
        assert_eq!(ids(&view), left);
    }

    // The third vote for an answer decides, and the last question isn't needed any more.
    let last = host
        .answer(json!({"question": questions[2], "reply": "answer: 1"}))
        .await;
    assert_eq!(last["status"], "answered");
    assert_eq!(last["answer"], "1");
}

#[tokio::test]
async fn a_reply_that_is_no_longer_needed_is_reported() {
    let mut host = Host::new().await;
    let view = host
        .begin(Mind::named("self_consistency").beginning())
        .await;
    let questions = ids(&view);

    let replies: Vec<_> = questions
        .iter()
        .map(|id| json!({"question": id, "reply": "answer: 7"}))
        .collect();
    let ended = host.answer(json!({"replies": replies})).await;

    assert_eq!(ended["answer"], "7");
    assert_eq!(ended["budget"]["replies"], 3);
    let unused = ended["notAccepted"].as_array().expect("a list");
    assert_eq!(unused.len(), 2);
    assert_eq!(unused[0]["question"], questions[3].as_str());

    host.restart().await;
    let session = ended["sessionId"].clone();
    let resumed = host.answer(json!({"sessionId": session})).await;
    assert_eq!(resumed["answer"], "7");
}

#[tokio::test]
async fn replies_to_old_and_unknown_questions_are_refused() {
    let host = Host::new().await;
    let mind = Mind::named("linear");
    let first = host.begin(mind.beginning()).await;
    let next = host.answer(json!({"replies": mind.replies(&first)})).await;
    let open = &ids(&next)[0];

    for question in [
        ids(&first)[0].as_str(),
        "q2-000000",
        "",
        "q99",
        "\u{1b}[31m",
    ] {
        let call = json!({"question": question, "reply": "thought: Again."});
        let refused = host.refused("answer", call).await;
        assert!(
            refused.ends_with(&format!("never asked; expected `{open}`")),
            "{refused}"
        );
        assert!(!refused.contains('\u{1b}'));
    }
    assert_eq!(host.answer(json!({})).await["budget"]["replies"], 1);
}

#[tokio::test]
async fn a_question_takes_one_reply() {
    let host = Host::new().await;
    let view = host
        .begin(Mind::named("self_consistency").beginning())
        .await;
    let question = &ids(&view)[1];

    let replies = json!([
        {"question": question, "reply": "answer: 1"},
        {"question": question, "reply": "answer: 2"},
        {"question": "q7", "reply": "answer: 3"},
    ]);
    let view = host.answer(json!({"replies": replies})).await;

    assert_eq!(view["budget"]["replies"], 1);
    let refused = view["notAccepted"].as_array().expect("a list");
    assert_eq!(refused.len(), 2);
    assert_eq!(
        refused[0]["problem"],
        "there is an earlier reply to it in this call"
    );
}

#[tokio::test]
async fn a_reply_without_a_question_needs_a_single_open_one() {
    let host = Host::new().await;
    let view = host
        .begin(Mind::named("self_consistency").beginning())
        .await;

    let refused = host.refused("answer", json!({"reply": "answer: 1"})).await;

    assert!(
        refused.starts_with("name the question; expected `q1-"),
        "{refused}"
    );
    assert!(refused.contains(&ids(&view)[4]), "{refused}");
}

#[tokio::test]
async fn two_clients_can_work_on_one_session() {
    let server = Server::builder().open().expect("the server opens");
    let one = client_of(&server).await;
    let other = client_of(&server).await;
    let mind = Mind::named("self_consistency");

    let view = data(&call(&one, "begin", mind.beginning()).await);
    let session = view["sessionId"].as_str().expect("an id");
    let questions = ids(&view);

    let reply = reply_to(session, &questions[0], "answer: 1");
    let (first, second) = tokio::join!(
        call(&one, "answer", reply.clone()),
        call(&other, "answer", reply)
    );
    let refused = [&first, &second].map(|result| result.is_error == Some(true));
    assert!(
        refused.contains(&true) && refused.contains(&false),
        "{refused:?}"
    );

    let reply = reply_to(session, &questions[1], "answer: 1");
    let view = data(&call(&other, "answer", reply).await);
    assert_eq!(ids(&view), questions[2..]);
}

#[tokio::test]
async fn calls_without_an_id_use_the_session_of_the_connection() {
    let server = Server::builder().open().expect("the server opens");
    let one = client_of(&server).await;
    let other = client_of(&server).await;

    let begun = data(&call(&one, "begin", json!({"problem": "2 + 2?"})).await);
    let again = data(&call(&one, "answer", json!({})).await);
    assert_eq!(comparable(again)["questions"], begun["questions"]);

    let result = call(&other, "answer", json!({})).await;
    assert!(
        text(&result).starts_with("no session has begun on this connection"),
        "{}",
        text(&result)
    );
}

#[tokio::test]
async fn a_problem_is_needed_and_so_are_tools_for_their_strategy() {
    let host = Host::new().await;
    let refusals = [
        (json!({}), "`problem` is missing, expected a text"),
        (
            json!({"problem": " "}),
            "`problem` is the text \" \", expected a text that isn't empty",
        ),
        (
            json!({"problem": "2 + 2?", "strategy": "rewoo"}),
            "`tools` is missing, expected at least one tool of yours for `rewoo`",
        ),
        (
            json!({"problem": "2 + 2?", "strategy": "react", "tools": [{"name": "a b"}]}),
            "`a b` is not a valid tool name; expected 1 to 64 letters, digits, `_` and `-`",
        ),
    ];

    for (arguments, expected) in refusals {
        assert_eq!(host.refused("begin", arguments).await, expected);
    }
    let refused = host
        .refused("begin", json!({"problem": "2 + 2?", "strategy": "magic"}))
        .await;
    assert!(
        refused.starts_with("`strategy` is the text \"magic\", expected `loop`, "),
        "{refused}"
    );
}

#[tokio::test]
async fn a_session_whose_questions_differ_is_refused() {
    let mut host = Host::new().await;
    let mind = Mind::named("linear");
    let view = host.begin(mind.beginning()).await;
    host.answer(json!({"replies": mind.replies(&view)})).await;

    // As if an earlier version had asked another question.
    host.edit("UPDATE entries SET body = replace(body, 'q1-', 'q1-0') WHERE number = 2");
    host.restart().await;
    let session = json!({"sessionId": view["sessionId"]});
    let refused = host.refused("answer", session.clone()).await;
    assert!(refused.contains("entry 2 of the session"), "{refused}");
    assert!(refused.ends_with("begin a new session"), "{refused}");

    // Nothing was lost.
    host.edit("UPDATE entries SET body = replace(body, 'q1-0', 'q1-') WHERE number = 2");
    let view = host.answer(session).await;
    assert_eq!(finish(&host, mind, view).await["answer"], mind.answer);
}

#[tokio::test]
async fn tools_of_the_host_can_be_called_in_the_loop() {
    let host = Host::new().await;
    let mut arguments = Mind::named("loop").beginning();
    arguments["tools"] = Mind::named("react").beginning()["tools"].clone();
    let view = host.begin(arguments).await;

    let calls = "```yaml\ntool_calls:\n- name: height\n  arguments: {of: Galdhøpiggen}\n- name: height\n  arguments: {of: Snøhetta}\n```";
    let called = host
        .answer(json!({"question": ids(&view)[0], "reply": calls}))
        .await;
    let questions = called["questions"].as_array().expect("a list");
    let tools: Vec<_> = questions.iter().map(|question| &question["tool"]).collect();
    assert_eq!(tools, ["height", "height"]);
    assert_eq!(questions[1]["input"], json!({"of": "Snøhetta"}));

    let outputs = json!([
        {"question": questions[1]["id"], "reply": "not on the map", "failed": true},
        {"question": questions[0]["id"], "reply": "2469"},
    ]);
    let view = host.answer(json!({"replies": outputs})).await;

    // The results continue the turn, which isn't a refusal.
    let question = &view["questions"][0];
    assert_eq!(question["askedAgain"], Value::Null, "{view}");
    let results = question["messages"].to_string();
    assert!(
        results.contains("2469") && results.contains("not on the map"),
        "{results}"
    );
    assert_eq!(view["budget"]["replies"], 1);
}

#[tokio::test]
async fn only_the_call_of_a_tool_can_fail() {
    let host = Host::new().await;
    host.begin(Mind::named("linear").beginning()).await;

    let call = json!({"reply": "no idea", "failed": true});
    assert_eq!(
        host.refused("answer", call).await,
        "only the call of a tool can fail; write a reply"
    );
}

#[tokio::test]
async fn a_strategy_may_have_another_name() {
    let host = Host::new().await;
    let view = host
        .begin(json!({"problem": "?", "strategy": "base_sequential"}))
        .await;
    assert_eq!(view["strategy"], "linear");

    let unknown = json!({"problem": "?", "strategy": "nonsense"});
    let message = host.refused("begin", unknown).await;
    assert!(message.contains("expected `loop`, "), "{message}");
}
