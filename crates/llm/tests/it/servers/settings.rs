//! Settings that servers refuse, and how each API writes those that it takes.

use cogwork_llm::{
    Adjustment, AnthropicClient, ChatRequest, Effort, LlmClient, LlmErrorKind, OpenAiApi,
    OpenAiClient, ToolChoice, Usage,
};
use serde_json::{Value, json};

use super::imitated::chat::{self, Chat};
use super::imitated::claude::Claude;
use super::imitated::ollama::Ollama;
use super::imitated::openai::{OpenAi, TOOLS_REFUSED};
use super::imitated::{
    Dialect, ROWS, Refused, Reply, Row, Server, chat_client, claude_client, ollama_client,
    responses,
};
use super::{MODEL, ask, question};

fn plain_question() -> ChatRequest {
    question().with_tools([])
}

#[tokio::test]
async fn each_refused_setting_costs_one_request_once() {
    let replaced = Adjustment::replaced("max_tokens", "max_completion_tokens");
    let without_temperature = Adjustment::omitted("temperature");

    for is_streamed in [false, true] {
        let rows = [
            (
                Server::start(Chat::new(chat::OPENAI), []).await,
                chat_client as fn(&str, &str) -> Box<dyn LlmClient>,
                vec![replaced.clone(), without_temperature.clone()],
            ),
            (
                Server::start(OpenAi::gpt(), []).await,
                responses,
                vec![without_temperature.clone()],
            ),
            (
                Server::start(Claude::default(), []).await,
                claude_client,
                vec![without_temperature.clone()],
            ),
            (
                Server::start(Claude::older(), []).await,
                claude_client,
                vec![Adjustment::omitted("cache_control")],
            ),
            (
                Server::start(Ollama::default(), []).await,
                ollama_client,
                vec![],
            ),
        ];

        for (server, client, expected) in rows {
            let client = client(server.url(), MODEL);
            let request = plain_question().with_temperature(0.2).with_max_tokens(900);
            let reply = ask(&*client, &request, is_streamed).await.unwrap();
            assert_eq!(reply.adjustments(), expected);
            assert_eq!(server.requests().len(), 1 + expected.len());

            let reply = ask(&*client, &request, is_streamed).await.unwrap();
            assert_eq!(reply.adjustments(), expected);
            assert_eq!(server.requests().len(), 2 + expected.len());
            assert_eq!(reply.text(), "Done.");

            let reply = ask(&*client, &plain_question(), is_streamed).await.unwrap();
            let mut made = reply.adjustments().iter();
            assert!(made.all(|made| made.setting() == "cache_control"));
        }
    }
}

/// A server that blames a setting whatever is sent.
struct Stubborn(&'static str, Option<&'static str>);

impl Dialect for Stubborn {
    fn check(&mut self, _: &str, _: &Value) -> Result<(), Refused> {
        Err(chat::openai_error(self.0, self.1))
    }

    fn answer(&mut self, _: &str, _: &Value, _: Reply) -> Value {
        Value::Null
    }

    fn stream(&self, _: &str, _: &Value) -> String {
        String::new()
    }
}

#[tokio::test]
async fn a_setting_that_is_refused_again_is_an_error_that_names_it() {
    let rows = [
        (
            "'temperature' is not supported.",
            Some("temperature"),
            "temperature",
        ),
        (
            "Unsupported parameter: max_tokens",
            Some("max_tokens"),
            "max_tokens",
        ),
        (TOOLS_REFUSED, Some("reasoning_effort"), "/v1/responses"),
        ("'strict' is not permitted", None, "strict"),
        (
            "The reasoning_content in the thinking mode must be passed back to the API.",
            None,
            "reasoning_content",
        ),
    ];

    for (message, parameter, setting) in rows {
        for is_streamed in [false, true] {
            let server = Server::start(Stubborn(message, parameter), []).await;
            let client = chat_client(server.url(), MODEL);
            let request = question().with_temperature(0.2).with_max_tokens(900);
            let error = ask(&*client, &request, is_streamed).await.unwrap_err();

            assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
            let message = error.message();
            assert!(message.contains(setting), "{message}");
            assert!(
                message.contains("even after a change") || setting == "/v1/responses",
                "{message}"
            );
            assert!(
                server.requests().len() <= 3,
                "{message}: {}",
                server.requests().len()
            );
        }
    }
}

#[tokio::test]
async fn a_refused_value_is_an_error_at_once() {
    let message = "Invalid 'max_tokens': integer above maximum value. Expected a value <= 8192";
    let server = Server::start(Stubborn(message, Some("max_tokens")), []).await;
    let client = chat_client(server.url(), MODEL);
    let error = ask(&*client, &plain_question().with_max_tokens(9000), false)
        .await
        .unwrap_err();

    assert!(error.message().contains("8192"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

/// A server that doesn't know a field of tools.
#[tokio::test]
async fn tools_are_not_strict_where_that_is_refused() {
    struct NotStrict(Chat);
    impl Dialect for NotStrict {
        fn check(&mut self, path: &str, request: &Value) -> Result<(), Refused> {
            match request["tools"].to_string().contains("strict") {
                true => Err(chat::openai_error(
                    "tools.0.function.strict: Extra inputs are not permitted",
                    None,
                )),
                false => self.0.check(path, request),
            }
        }

        fn answer(&mut self, path: &str, request: &Value, reply: Reply) -> Value {
            self.0.answer(path, request, reply)
        }

        fn stream(&self, path: &str, answer: &Value) -> String {
            self.0.stream(path, answer)
        }
    }

    let server = Server::start(NotStrict(Chat::new(chat::DEEPSEEK)), []).await;
    let client = chat_client(server.url(), MODEL);
    let reply = ask(&*client, &question(), false).await.unwrap();
    assert_eq!(reply.adjustments(), [Adjustment::omitted("strict")]);
    ask(&*client, &question(), true).await.unwrap();
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn tools_are_strict_where_the_schema_allows_it() {
    for row in ROWS {
        let server = row.start(vec![]).await;
        let client = (row.client)(server.url(), MODEL);
        ask(&*client, &question(), false).await.unwrap();

        let body = server.requests().pop().unwrap().json();
        let tool = |number: usize| {
            let tool = &body["tools"][number];
            tool.get("function").unwrap_or(tool)["strict"].clone()
        };
        let is_responses = body.get("input").is_some();
        let expected = match row.name {
            "Ollama" => [Value::Null, Value::Null],
            _ if is_responses => [json!(true), json!(false)],
            _ => [json!(true), Value::Null],
        };
        assert_eq!([tool(0), tool(1)], expected, "{}", row.name);
    }
}

#[tokio::test]
async fn each_api_writes_an_effort_in_its_own_way() {
    use Effort::{High, Low, Max, Medium, Minimal, None, XHigh};

    let claude = |effort: &str| json!([{"type": "adaptive"}, {"effort": effort}]);
    let rows = [
        (None, json!([{"type": "disabled"}, null]), json!(false)),
        (Minimal, claude("low"), json!("low")),
        (Low, claude("low"), json!("low")),
        (Medium, claude("medium"), json!("medium")),
        (High, claude("high"), json!("high")),
        (XHigh, claude("xhigh"), json!("max")),
        (Max, claude("max"), json!("max")),
    ];

    for (effort, for_claude, for_ollama) in rows {
        let request = plain_question().with_effort(effort);
        let sent = async |row: usize| {
            let Row { client, .. } = ROWS[row];
            let server = ROWS[row].start(vec![]).await;
            let client = client(server.url(), MODEL);
            ask(&*client, &request, false).await.unwrap();
            server.requests().pop().unwrap().json()
        };

        let body = sent(0).await;
        assert_eq!(json!([body["thinking"], body["output_config"]]), for_claude);
        assert_eq!(
            sent(1).await["reasoning"],
            json!({"effort": effort.as_str()})
        );
        assert_eq!(sent(2).await["reasoning_effort"], effort.as_str());
        assert_eq!(sent(5).await["think"], for_ollama);
    }
}

#[tokio::test]
async fn an_effort_that_is_not_set_is_not_sent() {
    for row in ROWS {
        let server = row.start(vec![]).await;
        let client = (row.client)(server.url(), MODEL);
        ask(&*client, &plain_question(), true).await.unwrap();

        let body = server.requests().pop().unwrap().json();
        let names = [
            "thinking",
            "output_config",
            "reasoning",
            "reasoning_effort",
            "think",
        ];
        assert!(names.iter().all(|name| body.get(name).is_none()), "{body}");
    }
}

#[tokio::test]
async fn usage_has_cache_reads_and_writes_and_thinking() {
    let expected = Usage::new(100, 50)
        .with_cached_tokens(60)
        .with_cache_written_tokens(30)
        .with_reasoning_tokens(20);

    for row in ROWS {
        for is_streamed in [false, true] {
            let server = row.start(vec![]).await;
            let client = (row.client)(server.url(), MODEL);
            let usage = ask(&*client, &question(), is_streamed)
                .await
                .unwrap()
                .usage();
            match row.name {
                // These have numbers of their own.
                name if name.starts_with("Claude") => {}
                "Ollama" => assert_eq!(usage, Some(Usage::new(100, 50))),
                // Without the option that Mistral refuses, it sends them nevertheless.
                name => assert_eq!(usage, Some(expected), "{name}"),
            }
        }
    }
}

#[tokio::test]
async fn a_client_can_be_kept_to_one_api() {
    let client = |server: &Server, api| {
        OpenAiClient::builder(format!("{}/v1", server.url()), MODEL)
            .with_api(api)
            .build()
            .unwrap()
    };
    let paths = |server: &Server| -> Vec<String> {
        let requests = server.requests().into_iter();
        requests.map(|seen| seen.path.replace("/v1/", "")).collect()
    };

    // Without tools, Chat Completions will do; with them, the server is believed from then on.
    let server = Server::start(OpenAi::gpt(), []).await;
    let auto = client(&server, OpenAiApi::Auto);
    for request in [plain_question(), question(), question(), plain_question()] {
        ask(&auto, &request, false).await.unwrap();
    }
    let chat = "chat/completions";
    assert_eq!(
        paths(&server),
        [chat, chat, "responses", "responses", "responses"]
    );
    let reply = ask(&auto, &question(), true).await.unwrap();
    let expected = Adjustment::replaced("/chat/completions", "/responses");
    assert_eq!(reply.adjustments(), [expected]);

    let server = Server::start(OpenAi::gpt(), []).await;
    let error = ask(&client(&server, OpenAiApi::Chat), &question(), false)
        .await
        .unwrap_err();
    assert!(error.message().contains("use /v1/responses"), "{error}");
    assert_eq!(paths(&server), [chat]);

    let server = Server::start(OpenAi::gpt(), []).await;
    ask(&client(&server, OpenAiApi::Responses), &question(), false)
        .await
        .unwrap();
    assert_eq!(paths(&server), ["responses"]);
}

/// A setting that a model refuses for all requests, and that only the program can change.
#[tokio::test]
async fn a_forced_call_that_claude_refuses_is_an_error_that_says_so() {
    let server = Server::start(Claude::default(), []).await;
    let client = AnthropicClient::builder(server.url(), MODEL)
        .build()
        .unwrap();
    for choice in [ToolChoice::Required, ToolChoice::Tool("weather".to_owned())] {
        let error = ask(&client, &question().with_tool_choice(choice), false)
            .await
            .unwrap_err();
        assert!(error.message().contains("tool_choice"), "{error}");
    }

    assert_eq!(server.requests().len(), 2);
}
