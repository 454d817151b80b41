use cogwork_llm::{
    Block, Cache, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmErrorKind, Message,
    Messages, ReplyFormat, ScriptedClient, ScriptedReply, ToolChoice, ToolDefinition, Usage,
};

use crate::around::{ask, asks, fails, follow, hello, saying, weather, with_tools};

#[tokio::test]
async fn the_same_request_is_asked_once() {
    let response = ChatResponse::new("Hi.")
        .with_usage(Usage::new(1, 2))
        .with_reasoning("Hm.");
    let script = ScriptedClient::new([response.clone()]);
    let client = Cache::new(script.clone());

    for _ in 0..3 {
        assert_eq!(ask(&client).await.unwrap(), response);
        assert_eq!(follow(&client.clone()).await.unwrap(), response);
    }

    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn a_streamed_reply_is_kept_at_its_end() {
    let script = ScriptedClient::new([
        ScriptedReply::in_pieces(["a", "b"]),
        ScriptedReply::in_pieces(["c", "d"]),
    ]);
    let client = Cache::new(script.clone());
    let mut dropped = client.stream(hello()).await.unwrap();
    dropped.next().await.unwrap().unwrap();
    drop(dropped);
    assert_eq!(follow(&client).await.unwrap().text(), "cd");
    assert_eq!(ask(&client).await.unwrap().text(), "cd");
    assert_eq!(script.requests().len(), 2);
}

/// Requests each of which differs from all others.
fn variants() -> Vec<ChatRequest> {
    vec![
        hello(),
        saying("hello"),
        ChatRequest::new([Message::system("Hello")]),
        hello().with_messages(
            [Message::user("Hello"), Message::user("")]
                .into_iter()
                .collect::<Messages>(),
        ),
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
        ChatRequest::new([Message::user("Hello").with_blocks([Block::image("image/png", "aa")])]),
        ChatRequest::new([Message::user("Hello").with_blocks([Block::image("image/png", "ab")])]),
        ChatRequest::new([Message::assistant("Hello").with_tool_calls([weather("Oslo")])]),
        ChatRequest::new([Message::assistant("Hello").with_tool_calls([weather("Bergen")])]),
        ChatRequest::new([Message::tool_result(&weather("Oslo"), "Hello")]),
        ChatRequest::new([Message::tool_failure(&weather("Oslo"), "Hello")]),
    ]
}

#[tokio::test]
async fn a_request_that_differs_in_anything_is_another_one() {
    let variants = variants();
    let script = ScriptedClient::new((0..variants.len()).map(|n| n.to_string()));
    let client = Cache::new(script.clone());

    for _ in 0..2 {
        for (n, request) in variants.iter().enumerate() {
            assert_eq!(
                client.complete(request.clone()).await.unwrap().text(),
                n.to_string()
            );
        }
    }

    assert_eq!(script.requests().len(), variants.len());
}

#[tokio::test]
async fn a_reply_that_asks_for_calls_is_kept() {
    let script = ScriptedClient::new([asks()]);
    let client = Cache::new(script.clone());
    for _ in 0..2 {
        assert_eq!(client.complete(with_tools()).await.unwrap(), asks());
        assert_eq!(
            client
                .stream(with_tools())
                .await
                .unwrap()
                .collect()
                .await
                .unwrap(),
            asks()
        );
    }

    assert_eq!(script.requests(), [with_tools()]);
}

#[tokio::test]
async fn failures_and_replies_that_were_cut_off_are_asked_again() {
    let cut = ChatResponse::new("Hal").with_finish_reason(FinishReason::Length);
    let script = ScriptedClient::default()
        .then(fails(LlmErrorKind::Server))
        .then(cut)
        .then("Half.")
        .then("never");

    let client = Cache::new(script);
    assert!(ask(&client).await.is_err());
    assert_eq!(ask(&client).await.unwrap().text(), "Hal");
    assert_eq!(ask(&client).await.unwrap().text(), "Half.");
    assert_eq!(ask(&client).await.unwrap().text(), "Half.");
}

#[tokio::test]
async fn the_one_not_asked_for_longest_makes_room() {
    let script = ScriptedClient::new(["a", "b", "c", "b again"]);
    let client = Cache::new(script).with_max_bytes(3_000);

    for (request, reply) in [
        ("a", "a"),
        ("b", "b"),
        ("a", "a"),
        ("c", "c"),
        ("a", "a"),
        ("b", "b again"),
        ("b", "b again"),
    ] {
        let request = saying(&request.repeat(1_000));
        assert_eq!(client.complete(request).await.unwrap().text(), reply);
    }
}

#[tokio::test]
async fn a_reply_without_room_is_passed_on_and_removes_no_other() {
    let client = Cache::new(ScriptedClient::new(["1", "2", "3"])).with_max_bytes(1_000);
    let long = saying(&"x".repeat(1_000));

    assert_eq!(ask(&client).await.unwrap().text(), "1");
    for reply in ["2", "3"] {
        assert_eq!(client.complete(long.clone()).await.unwrap().text(), reply);
    }
    assert_eq!(ask(&client).await.unwrap().text(), "1");
}

#[tokio::test]
async fn a_request_unequal_to_itself_is_not_kept() {
    let client = Cache::new(ScriptedClient::new(["1", "2"]));
    let request = hello().with_temperature(f32::NAN);
    for reply in ["1", "2"] {
        let response = client.complete(request.clone()).await.unwrap();
        assert_eq!(response.text(), reply);
    }
}
