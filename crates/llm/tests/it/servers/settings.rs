//! Settings that servers refuse.

use cogwork_llm::http::OpenAiApi;
use cogwork_llm::{ChatRequest, LlmClient, LlmErrorKind, Message, OpenAiClient};
use serde_json::Value;

use super::imitated::chat::{self, Chat, Host};
use super::imitated::openai::{OpenAi, TOOLS_REFUSED};
use super::imitated::{Dialect, ROWS, Refused, Reply, Server, chat_client};
use super::{MODEL, advance, ask, question};
use crate::table::check;

fn plain_question() -> ChatRequest {
    question().with_tools([])
}

/// How many requests were sent for each of two equal ones, and the adjustments.
async fn mended(server: &Server, client: &dyn LlmClient, request: &ChatRequest) -> String {
    let first = ask(client, request, true).await.unwrap();
    let sent = server.requests().len();
    let second = ask(client, request, false).await.unwrap();
    assert_eq!(first.adjustments(), second.adjustments());

    let made = first.adjustments().iter().map(ToString::to_string);
    let made: Vec<_> = made.collect();
    let then = server.requests().len() - sent;
    format!("{sent} requests, then {then}: [{}]", made.join(", "))
}

#[tokio::test]
async fn each_refused_setting_costs_one_request_once() {
    let table = "
        Claude => 2 requests, then 1: [temperature was not sent]
        Claude of 2025 => 2 requests, then 1: [cache_control was not sent]
        OpenAI Responses => 2 requests, then 1: [temperature was not sent]
        OpenAI Chat => 5 requests, then 1: [max_completion_tokens was sent instead of max_tokens, temperature was not sent, seed was not sent, stop was not sent]
        Ollama => 1 requests, then 1: []
    ";
    check(table, async |name| {
        let row = ROWS.into_iter().find(|row| row.name == name).unwrap();
        let server = row.start(vec![]).await;
        let client = (row.client)(server.url(), MODEL);
        let request = plain_question().with_temperature(0.2).with_max_tokens(900);
        let request = request.with_seed(1).with_stop(["END"]);
        let told = mended(&server, &*client, &request).await;

        let reply = ask(&*client, &plain_question(), true).await.unwrap();
        let mut made = reply.adjustments().iter();
        assert!(made.all(|made| made.setting() == "cache_control"));
        told
    })
    .await;
}

/// A server that blames a setting whatever is sent.
struct Stubborn(&'static str, Option<&'static str>);

impl Dialect for Stubborn {
    fn check(&mut self, _: &str, _: &Value) -> Result<(), Refused> {
        Err(chat::openai_error(self.0, self.1))
    }
}

#[tokio::test]
async fn a_setting_that_is_refused_again_is_an_error_that_names_it() {
    let limit = "Invalid 'max_tokens': integer above maximum value. Expected a value <= 8192";
    let thinking = "The reasoning_content in the thinking mode must be passed back to the API.";
    let mut told = Vec::new();
    for (message, parameter) in [
        ("'temperature' is not supported.", Some("temperature")),
        ("Unsupported parameter: max_tokens", Some("max_tokens")),
        (limit, Some("max_tokens")),
        (TOOLS_REFUSED, Some("reasoning_effort")),
        ("'strict' is not permitted", None),
        (thinking, None),
    ] {
        for is_streamed in [false, true] {
            let server = Server::start(Stubborn(message, parameter), []).await;
            let client = chat_client(server.url(), MODEL);
            let request = question().with_temperature(0.2).with_max_tokens(900);
            let error = ask(&*client, &request, is_streamed).await.unwrap_err();
            assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
            let sent = server.requests().len();
            told.push(format!("{sent} requests: {}", error.message()));
        }
    }
    told.dedup();
    insta::assert_snapshot!(told.join("\n"), @"
    2 requests: 'temperature' is not supported.; the server refuses temperature, even after a change
    2 requests: Unsupported parameter: max_tokens; the server refuses max_tokens, even after a change
    1 requests: Invalid 'max_tokens': integer above maximum value. Expected a value <= 8192
    2 requests: Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.
    2 requests: 'strict' is not permitted; the server refuses strict, even after a change
    2 requests: The reasoning_content in the thinking mode must be passed back to the API.; the server refuses reasoning_content, even after a change
    ");
}

#[tokio::test]
async fn a_host_that_does_not_know_a_field_does_not_get_it() {
    let host = Host {
        refuses: &[
            "strict: tools.0.function.strict: Extra inputs are not permitted",
            "top_p: Unsupported parameter: 'top_p' is not supported with this model.",
        ],
        ..chat::DEEPSEEK
    };
    let server = Server::start(Chat::new(host), []).await;
    let client = OpenAiClient::builder(format!("{}/v1", server.url()), MODEL);
    let client = client.with_extra("top_p", 0.5).build().unwrap();
    let expected = "3 requests, then 1: [strict was not sent, top_p was not sent]";
    assert_eq!(mended(&server, &client, &question()).await, expected);
}

#[tokio::test]
async fn a_host_that_refuses_its_own_fields_does_not_get_them_back() {
    let host = Host {
        adds: chat::DEEPSEEK.adds,
        refuses: &["reasoning_content: property 'reasoning_content' is unsupported"],
        ..chat::PLAIN
    };
    let reply = Reply::says("Hm.").thinks("OPAQUE");
    let server = Server::start(Chat::new(host), vec![reply; 3]).await;
    let client = chat_client(server.url(), MODEL);
    let mut request = question();
    for _ in 0..3 {
        advance(&*client, &mut request, false).await;
        request.push(Message::user("And?"));
    }
    assert_eq!(server.refusals().len(), 1);
}

#[tokio::test]
async fn a_client_can_be_kept_to_one_api() {
    // Without tools, Chat Completions will do; with them, the server is believed from then on.
    let table = "
        Auto => chat/completions chat/completions responses responses responses; 0 errors
        Chat => chat/completions chat/completions chat/completions chat/completions; 2 errors
        Responses => responses responses responses responses; 0 errors
    ";
    check(table, async |name| {
        let api = match name {
            "Auto" => OpenAiApi::Auto,
            "Chat" => OpenAiApi::Chat,
            _ => OpenAiApi::Responses,
        };
        let server = Server::start(OpenAi::gpt(), []).await;
        let client = OpenAiClient::builder(format!("{}/v1", server.url()), MODEL).with_api(api);
        let client = client.build().unwrap();
        let mut errors = 0;
        for request in [plain_question(), question(), question(), plain_question()] {
            if let Err(error) = ask(&client, &request, false).await {
                assert!(error.message().contains("use /v1/responses"), "{error}");
                errors += 1;
            }
        }
        let requests = server.requests().into_iter();
        let paths: Vec<_> = requests.map(|seen| seen.path.replace("/v1/", "")).collect();
        format!("{}; {errors} errors", paths.join(" "))
    })
    .await;
}
