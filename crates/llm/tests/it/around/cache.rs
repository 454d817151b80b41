use cogwork_llm::layers::Cache;
use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmErrorKind, Message, ReplyFormat,
    ScriptedClient, ScriptedReply, ToolChoice, ToolDefinition, Usage,
};

use crate::around::{ask, asks, both, fails, follow, hello, saying, weather};

/// Checks that this request gets these replies.
async fn check(client: &impl LlmClient, rows: &[(ChatRequest, &str)]) {
    for (request, reply) in rows {
        let response = client.complete(request.clone()).await.unwrap();
        assert_eq!(response.text(), *reply);
    }
}

#[tokio::test]
async fn the_same_request_is_asked_once() {
    let response = asks().with_usage(Usage::new(1, 2)).with_reasoning("Hm.");
    let script = ScriptedClient::new([response.clone()]);
    let client = Cache::new(script.clone());

    for _ in 0..3 {
        assert_eq!(both(&client.clone()).await.unwrap(), response);
    }
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn a_streamed_reply_is_kept_at_its_end() {
    let replies = [["a", "b"], ["c", "d"]].map(ScriptedReply::in_pieces);
    let script = ScriptedClient::new(replies);
    let client = Cache::new(script.clone());
    let mut dropped = client.stream(hello()).await.unwrap();
    dropped.next().await.unwrap().unwrap();
    drop(dropped);

    assert_eq!(follow(&client).await.unwrap().text(), "cd");
    assert_eq!(ask(&client).await.unwrap().text(), "cd");
    assert_eq!(script.requests().len(), 2);
}

#[tokio::test]
async fn a_request_that_differs_in_anything_is_another_one() {
    let image = |data| Message::user("Hello").with_blocks([Block::image("image/png", data)]);
    let calling = |city| Message::assistant("Hello").with_tool_calls([weather(city)]);
    let messages = [
        vec![Message::user("hello")],
        vec![Message::system("Hello")],
        vec![Message::user("Hello"), Message::user("")],
        vec![image("aa")],
        vec![image("ab")],
        vec![calling("Oslo")],
        vec![calling("Bergen")],
        vec![Message::tool_result(&weather("Oslo"), "Hello")],
        vec![Message::tool_failure(&weather("Oslo"), "Hello")],
    ];
    let settings = [
        hello(),
        hello().with_max_tokens(1),
        hello().with_temperature(0.0),
        hello().with_temperature(0.1),
        hello().with_seed(1),
        hello().with_stop(["x"]),
        hello().with_stop(["x", "y"]),
        hello().with_stop(["xy"]),
        hello().with_format(ReplyFormat::Json),
        hello().with_format(ReplyFormat::schema("a", "{}")),
        hello().with_format(ReplyFormat::schema("b", "{}")),
        hello().with_tools([ToolDefinition::new("a", "", "{}")]),
        hello().with_tools([ToolDefinition::new("a", "", "{ }")]),
        hello().with_tool_choice(ToolChoice::None),
    ];
    let messages = messages.map(ChatRequest::new).into_iter();
    let requests: Vec<_> = messages.chain(settings).collect();
    let script = ScriptedClient::new((0..requests.len()).map(|n| n.to_string()));
    let client = Cache::new(script.clone());

    for _ in 0..2 {
        for (n, request) in requests.iter().enumerate() {
            check(&client, &[(request.clone(), &n.to_string())]).await;
        }
    }
    assert_eq!(script.requests().len(), requests.len());
}

#[tokio::test]
async fn what_is_no_whole_reply_is_asked_again() {
    let cut = ChatResponse::new("Hal").with_finish_reason(FinishReason::Length);
    let script = ScriptedClient::default()
        .then(fails(LlmErrorKind::Server))
        .then(cut)
        .then("Half.");
    let client = Cache::new(script);
    assert!(ask(&client).await.is_err());
    let rows = ["Hal", "Half.", "Half."].map(|reply| (hello(), reply));
    check(&client, &rows).await;
}

#[tokio::test]
async fn the_one_not_asked_for_longest_makes_room() {
    let long = |text: &str| saying(&text.repeat(1_000));
    let client = Cache::new(ScriptedClient::new(["a", "b", "c", "b again"])).with_max_bytes(3_000);
    let rows = ["a", "b", "a", "c", "a"].map(|text| (long(text), text));
    check(&client, &rows).await;
    check(&client, &[(long("b"), "b again"), (long("b"), "b again")]).await;

    // One without room is passed on, and removes no other.
    let client = Cache::new(ScriptedClient::new(["1", "2", "3"])).with_max_bytes(1_000);
    let rows = [
        (hello(), "1"),
        (long("x"), "2"),
        (long("x"), "3"),
        (hello(), "1"),
    ];
    check(&client, &rows).await;
}
