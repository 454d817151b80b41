//! A prompt cache that is asked for, pauses, replies that end too early, and instructions in the
//! middle.

use cogwork_llm::{AnthropicClient, FinishReason, LlmErrorKind, Message, ToolChoice};
use serde_json::{Value, json};

use super::imitated::claude::Claude;
use super::imitated::{End, ROWS, Reply, Server, claude_client};
use super::{MODEL, advance, ask, question};

fn call() -> Reply {
    let city = json!({"city": "Bergen"});
    let reply = Reply::says("I look.").thinks("OPAQUE");
    reply.calls("weather", city)
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

            let (read, written) = (usage.cached_tokens, usage.cache_written_tokens);
            assert_eq!(read, before, "{round}");
            assert_eq!(usage.prompt_tokens, read + written + 3);
            assert_eq!(usage.reasoning_tokens, 20);
            assert!(written > 0);
            before = read + written;
        }
        assert_eq!(server.refusals(), [""; 0]);
    }
}

#[tokio::test]
async fn caching_can_be_left_out_or_last_for_an_hour() {
    let server = Server::start(Claude::default(), []).await;
    let builder = || AnthropicClient::builder(server.url(), MODEL);
    for (builder, expected) in [
        (builder(), json!({"type": "ephemeral"})),
        (
            builder().with_cache_for_an_hour(),
            json!({"type": "ephemeral", "ttl": "1h"}),
        ),
        (builder().without_cache(), Value::Null),
    ] {
        let client = builder.build().unwrap();
        ask(&client, &question(), false).await.unwrap();
        assert_eq!(server.last()["cache_control"], expected);
    }
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
        let requests = server.requests().into_iter();
        let choices = requests.map(|seen| seen.json()["tool_choice"].clone());
        let choices: Value = choices.collect();
        assert_eq!(choices, json!([null, {"type": "none"}]));
        // Both were paid for.
        assert_eq!(reply.usage().unwrap().completion_tokens, 100);
    }
}

/// A setting that only the program can change.
#[tokio::test]
async fn a_forced_call_that_claude_refuses_is_an_error_that_says_so() {
    let server = Server::start(Claude::default(), []).await;
    let client = claude_client(server.url(), MODEL);
    for choice in [ToolChoice::Required, ToolChoice::Tool("weather".to_owned())] {
        let request = question().with_tool_choice(choice);
        let error = ask(&*client, &request, false).await.unwrap_err();
        assert!(error.message().contains("tool_choice"), "{error}");
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_pause_is_continued() {
    for is_streamed in [false, true] {
        let pauses = |text: &str| Reply::says(text).thinks("OPAQUE").ends(End::Paused);
        let last = Reply::says("three.").thinks("OPAQUE");
        let server =
            Server::start(Claude::default(), [pauses("One, "), pauses("two, "), last]).await;
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

        // One that has no end is given back.
        let server = Server::start(Claude::default(), vec![pauses("x"); 30]).await;
        let client = claude_client(server.url(), MODEL);
        let reply = ask(&*client, &question(), is_streamed).await.unwrap();
        let expected = FinishReason::Other("pause_turn".to_owned());
        assert_eq!(reply.finish_reason(), &expected);
        assert_eq!(server.requests().len(), 11);
    }
}

#[tokio::test]
async fn a_reply_that_is_cut_off_says_so_and_a_refusal_is_an_error_with_its_reason() {
    // Claude tells a category, and Responses tell it in words.
    for (row, reason) in [(ROWS[0], "reasoning_extraction"), (ROWS[1], "I can't")] {
        for is_streamed in [false, true] {
            let cut = Reply::says("I").thinks("OPAQUE").ends(End::Cut);
            let refused = Reply::says("I can't").ends(End::Refused);
            let server = row.start(vec![cut, refused]).await;
            let client = (row.client)(server.url(), MODEL);

            let reply = ask(&*client, &question(), is_streamed).await.unwrap();
            assert_eq!(reply.text(), "I");
            assert_eq!(reply.finish_reason(), &FinishReason::Length);
            let error = ask(&*client, &question(), is_streamed).await.unwrap_err();
            assert_eq!(error.kind(), LlmErrorKind::ContentFilter);
            assert!(error.message().contains(reason), "{error}");
            let so_far = if row.name == "Claude" { "I can't" } else { "" };
            assert_eq!(error.text_so_far().unwrap_or_default(), so_far);
            assert_eq!(server.requests().len(), 2);
        }
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

        let messages = server.last()["messages"].as_array().unwrap().clone();
        let is_said = |message: &&Value| message.to_string().contains("Hurry.");
        let said = messages.iter().filter(is_said);
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
    for _ in 0..2 {
        request.push(Message::system("Be brief."));
        request.push(Message::user("Well?"));
        advance(&*client, &mut request, false).await;
    }
    assert_eq!(server.refusals(), [""; 0]);
}
