//! What a server wants back goes back, and only to where it came from.

use cogwork_llm::{ChatRequest, LlmErrorKind, Message, Role, ToolDefinition};
use serde_json::json;

use super::imitated::openai::OpenAi;
use super::imitated::{ROWS, Reply, Row, Server, chat_client, responses};
use super::{MODEL, advance, ask, question, tools};

/// Three rounds of tools: one call, parallel calls, and one with text.
fn rounds(thinking: &str) -> Vec<Reply> {
    let says = |text: &str| Reply::says(text).thinks(thinking);
    let calls = |reply: Reply, city: &str| reply.calls("weather", json!({"city": city, "a": 1}));
    let note = json!({"text": "It \"rains\" in Tromsø 🌧"});
    vec![
        calls(says(""), "Bergen"),
        calls(says(""), "Oslo").calls("note", note),
        calls(says("I look at ü once more."), "Voss"),
        says("Take an umbrella."),
        says("Yes, a large one."),
    ]
}

const THINKING: [&str; 2] = ["OPAQUE thought: \"Bergen\" → rain", ""];

#[tokio::test]
async fn every_server_gets_back_what_it_sent() {
    for row in ROWS {
        for (is_streamed, thinking) in [false, true].map(|s| THINKING.map(|t| (s, t))).concat() {
            let about = format!("{}, streamed: {is_streamed}, {thinking:?}", row.name);
            let server = row.start(rounds(thinking)).await;
            let client = (row.client)(server.url(), MODEL);
            let mut request = question();

            let mut texts = Vec::new();
            for _ in 0..4 {
                let reply = advance(&*client, &mut request, is_streamed).await;
                texts.push(reply.text().to_owned());
            }
            request.push(Message::user("Are you sure?"));
            let last = advance(&*client, &mut request, is_streamed).await;

            let expected = ["", "", "I look at ü once more.", "Take an umbrella."];
            assert_eq!(texts, expected, "{about}");
            assert_eq!(last.text(), "Yes, a large one.", "{about}");
            check_refusals(&row, &server, &about);

            // A number of an unknown block, which parsing and writing would change.
            let sent = server.requests().pop().unwrap().body;
            assert!(!sent.contains("glimpse") || sent.contains("\"score\":1.10,"));
        }
    }
}

/// Nothing was refused but what no client can know, once.
fn check_refusals(row: &Row, server: &Server, about: &str) {
    let refusals = server.refusals();
    let are_mended = refusals.iter().all(|refusal| row.is_mended(refusal));
    assert!(refusals.len() <= 1 && are_mended, "{about}: {refusals:?}");
}

#[tokio::test]
async fn a_resumed_conversation_returns_it_too() {
    for row in ROWS {
        for is_streamed in [false, true] {
            let server = row.start(rounds(THINKING[0])).await;
            let mut request = question();
            for _ in 0..3 {
                let client = (row.client)(server.url(), MODEL);
                advance(&*client, &mut request, is_streamed).await;
                let saved = serde_json::to_string(request.messages()).unwrap();
                let messages: Vec<Message> = serde_json::from_str(&saved).unwrap();
                request = ChatRequest::new(messages).with_tools(tools());
            }

            // Each client may learn it anew.
            let mut refusals = server.refusals();
            refusals.retain(|refusal| !row.is_mended(refusal));
            assert_eq!(refusals, [""; 0], "{}", row.name);
        }
    }
}

/// A change of what precedes a reply, or of who is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    Text,
    Result,
    System,
    Tools,
    Model,
    Server,
    Thinking,
}

fn change(request: &ChatRequest, change: Change) -> ChatRequest {
    let changed = |message: &Message| match (change, message.role()) {
        (Change::Text, Role::User) => Message::user("Umbrella and coat?"),
        (Change::Result, Role::Tool) => {
            let saved = serde_json::to_string(message).unwrap();
            serde_json::from_str(&saved.replace("Rain", "Fog")).unwrap()
        }
        (Change::System, Role::System) => Message::system("You plan well."),
        (Change::Thinking, _) => message.clone().without_provider_data(),
        _ => message.clone(),
    };
    let messages: Vec<Message> = request.messages().iter().map(changed).collect();
    let mut tools = tools();
    if change == Change::Tools {
        let schema = r#"{"type":"object","properties":{}}"#;
        tools.push(ToolDefinition::new("clock", "", schema));
    }

    ChatRequest::new(messages).with_tools(tools)
}

#[tokio::test]
async fn after_a_change_nothing_is_returned_and_the_run_goes_on() {
    use Change::{Model, Result, Server, System, Text, Tools};

    for row in ROWS {
        for made in [Text, Result, System, Tools, Model, Server] {
            let is_streamed = made == System;
            let about = format!("{} after a change of the {made:?}", row.name);
            let server = row.start(rounds(THINKING[0])).await;
            let other = row.start(rounds(THINKING[0])[2..].to_vec()).await;
            let mut request = question();
            let client = (row.client)(server.url(), MODEL);
            for _ in 0..2 {
                advance(&*client, &mut request, is_streamed).await;
            }

            let (server, model) = match made {
                Server => (other, MODEL),
                Model => (server, "model-2"),
                _ => (server, MODEL),
            };
            let mut changed = change(&request, made);
            let client = (row.client)(server.url(), model);
            advance(&*client, &mut changed, is_streamed).await;
            let sent = server.requests().pop().unwrap().body;
            // Of two replies, one is before the first result.
            assert_eq!(sent.contains("OPAQUE"), made == Result, "{about}: {sent}");

            // What comes after the change goes back again.
            let last = advance(&*client, &mut changed, is_streamed).await;
            assert_eq!(last.text(), "Take an umbrella.", "{about}");
            // Some want a stand-in with the calls of others, and say so once.
            let wanted = ["thought_signature", "reasoning_content"];
            let refusals = server.refusals().into_iter();
            let refusals: Vec<_> = refusals.filter(|text| !row.is_mended(text)).collect();
            assert!(refusals.len() <= 1, "{about}: {refusals:?}");
            let is_wanted = |text: &String| wanted.iter().any(|name| text.contains(name));
            assert!(refusals.iter().all(is_wanted), "{about}: {refusals:?}");
        }
    }
}

#[tokio::test]
async fn what_one_api_wants_back_is_not_sent_in_another() {
    let server = Server::start(OpenAi::xai(), rounds(THINKING[0])).await;
    let mut request = question();
    advance(&*responses(server.url(), MODEL), &mut request, false).await;
    advance(&*chat_client(server.url(), MODEL), &mut request, false).await;
    let sent = server.requests().pop().unwrap();
    assert_eq!(sent.path, "/v1/chat/completions");
    assert!(!sent.body.contains("OPAQUE"), "{}", sent.body);
}

/// The servers do check: none of them takes a conversation without what it sent.
#[tokio::test]
async fn the_servers_refuse_a_conversation_that_lost_it() {
    for row in ROWS {
        let server = row.start(rounds(THINKING[0])).await;
        let client = (row.client)(server.url(), MODEL);
        let mut request = question();
        advance(&*client, &mut request, false).await;

        let lost = change(&request, Change::Thinking);
        let error = ask(&*client, &lost, false).await.unwrap_err();
        let about = format!("{}: {error}", row.name);
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest, "{about}");
    }
}

#[tokio::test]
async fn what_is_larger_than_the_limit_is_refused() {
    for name in ["Claude", "OpenAI Responses", "DeepSeek", "Ollama"] {
        let row = ROWS.into_iter().find(|row| row.name == name).unwrap();
        for is_streamed in [false, true] {
            let large = Reply::says("Done.").thinks("x".repeat(5_000_000));
            let server = row.start(vec![large]).await;
            let client = (row.client)(server.url(), MODEL);
            let error = ask(&*client, &question(), is_streamed).await.unwrap_err();

            assert_eq!(error.kind(), LlmErrorKind::Decode, "{name}");
            let message = error.message();
            assert!(message.contains("provider data"), "{name}: {error}");
            assert!(message.contains("at most 4194304"), "{name}: {error}");
        }
    }
}

/// What a server wants back is for nobody's eyes, but counts as bytes.
#[tokio::test]
async fn what_goes_back_is_not_printed_but_counted() {
    let server = ROWS[0].start(rounds(THINKING[0])).await;
    let client = (ROWS[0].client)(server.url(), MODEL);
    let reply = ask(&*client, &question(), false).await.unwrap();
    let request = ChatRequest::new([reply.message()]);
    let plain = ChatRequest::new([reply.message().without_provider_data()]);

    let shown = format!("{request:#?} {reply:#?} {:#?}", reply.provider_data());
    assert!(!shown.contains("OPAQUE+/="), "{shown}");
    assert!(request.bytes() > plain.bytes() + 50);
    assert_ne!(request, plain);
}
