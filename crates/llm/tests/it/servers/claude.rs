//! What only Claude has: a prompt cache that is asked for, pauses, refusals with a category, and
//! instructions in the middle.

use cogwork_llm::{AnthropicClient, FinishReason, LlmErrorKind, Message, ToolChoice, Usage};
use serde_json::json;

use super::imitated::claude::Claude;
use super::imitated::{End, Reply, Server, claude_client};
use super::{MODEL, advance, ask, question};

fn call() -> Reply {
    let city = json!({"city": "Bergen"});
    Reply::says("I look.")
        .thinks("OPAQUE")
        .calls("weather", city)
}

fn paid(usage: Usage) -> [u64; 3] {
    let fresh = usage.prompt_tokens - usage.cached_tokens - usage.cache_written_tokens;
    [usage.cached_tokens, usage.cache_written_tokens, fresh]
}

#[tokio::test]
async fn each_round_reads_the_one_before_it_from_the_cache() {
    for is_streamed in [false, true] {
        let server = Server::start(Claude::default(), vec![call(); 9]).await;
        let client = claude_client(server.url(), MODEL);
        let mut request = question();
        let mut before = 0;
        for round in 0..10 {
            if round == 9 {
                request = request.with_tool_choice(ToolChoice::None);
            }
            let reply = advance(&*client, &mut request, is_streamed).await;
            let usage = reply.usage().unwrap();
            let [read, written, fresh] = paid(usage);

            assert_eq!((read, fresh), (before, 3), "round {round}");
            assert_eq!(usage.reasoning_tokens, 20);
            assert!(written > 0);
            before = read + written;
        }
        assert_eq!(server.refusals(), [""; 0]);
    }
}

#[tokio::test]
async fn caching_can_be_left_out_or_last_for_an_hour() {
    let sent = async |client: AnthropicClient, server: &Server| {
        ask(&client, &question(), false).await.unwrap();
        server
            .requests()
            .pop()
            .unwrap()
            .json()
            .get("cache_control")
            .cloned()
    };

    let server = Server::start(Claude::default(), []).await;
    let builder = || AnthropicClient::builder(server.url(), MODEL);
    let usual = builder().build().unwrap();
    assert_eq!(
        sent(usual, &server).await,
        Some(json!({"type": "ephemeral"}))
    );
    let hour = builder().with_cache_for_an_hour().build().unwrap();
    let expected = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(sent(hour, &server).await, Some(expected));
    let none = builder().without_cache().build().unwrap();
    assert_eq!(sent(none, &server).await, None);
}

/// The call isn't part of the reply, and the model is then told not to make one.
#[tokio::test]
async fn a_call_that_the_request_forbids_is_not_handed_on() {
    for is_streamed in [false, true] {
        let answer = Reply::says("Rain.").thinks("OPAQUE");
        let server = Server::start(Claude::default(), [call(), answer]).await;
        let client = claude_client(server.url(), MODEL);
        let request = question().with_tool_choice(ToolChoice::None);
        let reply = ask(&*client, &request, is_streamed).await.unwrap();

        assert!(reply.text().ends_with("Rain."), "{}", reply.text());
        assert!(reply.tool_calls().is_empty());
        let choices = server
            .requests()
            .into_iter()
            .map(|seen| seen.json()["tool_choice"].clone());
        assert_eq!(
            choices.collect::<Vec<_>>(),
            [json!(null), json!({"type": "none"})]
        );
        // Both were paid for.
        assert_eq!(reply.usage().unwrap().completion_tokens, 100);
    }
}

#[tokio::test]
async fn a_pause_is_continued() {
    for is_streamed in [false, true] {
        let first = Reply::says("One, ").thinks("OPAQUE").ends(End::Paused);
        let second = Reply::says("two, ").thinks("OPAQUE").ends(End::Paused);
        let last = Reply::says("three.").thinks("OPAQUE");
        let server = Server::start(Claude::default(), [first, second, last]).await;
        let client = claude_client(server.url(), MODEL);
        let mut request = question();
        let reply = advance(&*client, &mut request, is_streamed).await;

        assert_eq!(reply.text(), "One, two, three.");
        assert_eq!(reply.finish_reason(), &FinishReason::Stop);
        assert_eq!(reply.usage().unwrap().completion_tokens, 150);
        assert_eq!(server.requests().len(), 3);

        request.push(Message::user("Go on."));
        advance(&*client, &mut request, is_streamed).await;
        assert_eq!(server.refusals(), [""; 0]);
    }
}

#[tokio::test]
async fn pauses_without_end_are_given_back() {
    let pause = Reply::says("x").thinks("OPAQUE").ends(End::Paused);
    let server = Server::start(Claude::default(), vec![pause; 30]).await;
    let reply = ask(&*claude_client(server.url(), MODEL), &question(), true)
        .await
        .unwrap();

    assert_eq!(
        reply.finish_reason(),
        &FinishReason::Other("pause_turn".to_owned())
    );
    assert_eq!(server.requests().len(), 11);
}

#[tokio::test]
async fn a_refusal_keeps_its_category_and_the_text_before_it() {
    for is_streamed in [false, true] {
        let refusal = Reply::says("First I").ends(End::Refused);
        let server = Server::start(Claude::default(), [refusal]).await;
        let client = claude_client(server.url(), MODEL);
        let error = ask(&*client, &question(), is_streamed).await.unwrap_err();

        assert_eq!(error.kind(), LlmErrorKind::ContentFilter);
        assert!(error.message().contains("reasoning_extraction"), "{error}");
        assert_eq!(error.text_so_far(), Some("First I"));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn later_instructions_keep_their_rank_where_the_model_takes_them() {
    for (dialect, expected) in [(Claude::default(), "system"), (Claude::older(), "user")] {
        let server = Server::start(dialect, vec![call(); 3]).await;
        let client = claude_client(server.url(), MODEL);
        let mut request = question();
        for _ in 0..3 {
            advance(&*client, &mut request, false).await;
            request.push(Message::system("Hurry."));
        }
        advance(&*client, &mut request, true).await;

        let messages = server.requests().pop().unwrap().json()["messages"].clone();
        let said = messages
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message.to_string().contains("Hurry."));
        let roles: Vec<_> = said.map(|message| message["role"].clone()).collect();
        assert_eq!(roles, [expected; 3]);
    }
}

/// Where the API takes no instructions, they are those of the user.
#[tokio::test]
async fn instructions_in_other_places_are_accepted_too() {
    let server = Server::start(Claude::default(), []).await;
    let client = claude_client(server.url(), MODEL);
    let mut request = question().with_tools([]);
    request.push(Message::system("Be brief."));
    request.push(Message::user("Well?"));
    advance(&*client, &mut request, false).await;
    request.push(Message::system("Be briefer."));
    request.push(Message::user("Well?"));
    advance(&*client, &mut request, false).await;

    assert_eq!(server.refusals(), [""; 0]);
}

#[tokio::test]
async fn a_reply_that_is_cut_off_says_so() {
    let server = Server::start(
        Claude::default(),
        [Reply::says("I").thinks("OPAQUE").ends(End::Cut)],
    )
    .await;
    let reply = ask(&*claude_client(server.url(), MODEL), &question(), true)
        .await
        .unwrap();

    assert_eq!(reply.finish_reason(), &FinishReason::Length);
    assert_eq!(server.requests()[0].json()["max_tokens"], 16_384);
}
