//! The key is in the header of the request and nowhere else.

use std::error::Error;
use std::time::Duration;

use cogwork_llm::embedding::OpenAiEmbedder;
use cogwork_llm::{AnthropicClient, LlmError, OllamaClient, OpenAiClient};
use futures_util::future::join_all;

use crate::http::support::{
    Answer, Protocol, Server, Settings, answer, ask, bytes, follow, streamed,
};

const KEY: &str = "sk-proj-a+b/c=0123456789\"<&'%>XYZ";

/// All that can be seen of an error.
fn everything(error: &LlmError) -> String {
    let (message, body) = (error.message(), error.body());
    let mut all = format!("{error:#}\n{error:#?}\n{message}\n{body:?}");
    let mut source = error.source();
    while let Some(inner) = source {
        all += &format!("\n{inner}\n{inner:#?}");
        source = inner.source();
    }

    all
}

/// Fails if the key, or so much as its beginning, shows in any spelling.
fn assert_hidden(shown: &str, case: &str) {
    let plain = shown.replace('\\', "");
    for secret in [KEY, "sk-proj-", "0123456789", "XYZ"] {
        assert!(!plain.contains(secret), "{case}: {shown}");
    }
}

/// The key as servers and proxies spell it: as it is, in JSON, percent-encoded, and in HTML.
fn spellings() -> Vec<String> {
    let json = serde_json::to_string(KEY).unwrap();
    let json = json.trim_matches('"').to_owned();
    let each = |form: fn(char) -> String| -> String { KEY.chars().map(form).collect() };

    vec![
        KEY.to_owned(),
        KEY.to_uppercase(),
        json.replace('/', "\\/"),
        json,
        each(|c| format!("\\u{:04x}", c as u32)),
        each(|c| format!("%{:02X}", c as u32)),
        each(|c| format!("&#x{:x};", c as u32)),
        KEY.repeat(20),
        format!("{}{KEY}", "x".repeat(485)),
    ]
}

/// Every place where a server's words come to be shown, with these words in it.
fn places(words: &str) -> Vec<Answer> {
    let json = serde_json::to_string(words).unwrap();
    let id = words.replace(char::is_whitespace, "");
    let echo = format!("x-request-id: {id}\r\n");
    let bodies = [
        format!("Authorization: Bearer {words}"),
        format!(r#"{{"error":{{"message":{json},"code":{json},"type":{json}}}}}"#),
        format!(r#"{{"detail":[{json}]}}"#),
        format!(r#"{{"choices":[{{"message":{{"refusal":{json}}}}}],"content":{json}}}"#),
        format!("<html><title>{words}</title></html>"),
    ];
    let events = [
        format!("data: {{\"error\":{{\"message\":{json}}}}}\n\n"),
        format!("event: error\ndata: {json}\n\n"),
        format!("{{\"error\":{json}}}\nnot JSON {words}\n"),
        format!("data: {{{json}:\n\n"),
    ];

    let mut answers = Vec::new();
    for status in [200, 401] {
        answers.extend(bodies.iter().map(|body| answer(status, &echo, body)));
    }
    answers.extend(events.iter().map(|body| Answer::Raw(streamed(body))));
    answers
}

/// Fails if anything about the outcomes of these answers shows the key.
async fn check(answers: Vec<Answer>, case: &str) {
    let count = answers.len();
    let repeated = answers
        .into_iter()
        .flat_map(|answer| std::iter::repeat_n(answer, 8));
    let server = Server::start(repeated).await;
    let settings = Settings {
        key: Some(KEY),
        timeout: Duration::from_secs(1),
        ..Settings::default()
    };
    let clients = Protocol::ALL.map(|protocol| protocol.client_with(&server.origin(), &settings));
    for _ in 0..count {
        let asked = join_all(clients.iter().map(ask)).await;
        let followed = join_all(clients.iter().map(follow)).await.into_iter();
        let outcomes = asked.into_iter().chain(followed.map(|(_, end)| end));
        for error in outcomes.filter_map(Result::err) {
            assert_hidden(&everything(&error), case);
        }
    }
}

#[tokio::test]
async fn no_error_shows_a_key_in_the_query_of_the_base_url() {
    for answer in places(KEY) {
        let server = Server::start([answer]).await;
        let mut url = reqwest::Url::parse(&server.base_url()).unwrap();
        url.query_pairs_mut().append_pair("key", KEY);
        let client = OpenAiClient::builder(url.as_str(), "m").build().unwrap();

        if let Err(error) = ask(&client).await {
            assert_hidden(&everything(&error), "in the query");
        }
    }
}

/// What is shown depends on a beginning of what a server says, of a length that depends on nothing
/// else. Between the halves of a key there may be any number of backslashes.
#[tokio::test]
async fn no_error_shows_the_key_whatever_the_server_echoes() {
    let (first, last) = KEY.split_at(13);
    let far = format!("{first}{}{last}", "\\".repeat(4_000));
    for words in spellings().iter().chain([&far]) {
        check(places(words), &words[..20]).await;
    }
}

#[tokio::test]
async fn broken_answers_do_not_show_the_key() {
    let half = format!("{{\"key\": \"{}", &KEY[..20]);
    let location = format!("location: http://{}.example/?k=x\r\n", &KEY[..9]);
    let answers = vec![
        Answer::Raw(bytes(200, "", &half, 1000)),
        Answer::Raw(bytes(401, "", &half, 1000)),
        Answer::Reset(bytes(200, "", &half, 1000)),
        Answer::Stall(bytes(200, "", &half, 1000)),
        Answer::Reset(streamed(&format!("data: {half}"))),
        Answer::Raw(format!("HTTP/1.1 200 {KEY}\r\ncontent-length: 0\r\n\r\n").into_bytes()),
        Answer::Raw(format!("{KEY}\r\n\r\n").into_bytes()),
        answer(302, &location, ""),
    ];
    check(answers, "broken").await;
}

#[tokio::test]
async fn what_is_hidden_is_marked_and_the_rest_stays_readable() {
    let key = "sk-proj-0123456789";
    let of = async |key: &str, path: &str, answer: Answer| {
        let server = Server::start([answer]).await;
        let url = format!("{}{path}", server.base_url());
        let client = OpenAiClient::builder(url, "m")
            .with_api_key(key)
            .with_header("x-version", "1");
        let error = ask(&client.build().unwrap()).await.unwrap_err();
        error.to_string().replace(&server.base_url(), "BASE")
    };

    let told = [
        of(key, "", answer(401, "", &format!("no such key: {key}!"))).await,
        of(key, "", answer(401, "", &format!("key={}", &key[..10]))).await,
        of(key, &format!("/{key}"), answer(404, "", "no such page")).await,
        of(key, &format!("/{key}"), Answer::Raw(Vec::new())).await,
        of("http", "", answer(405, "", "none")).await,
        of(key, "", answer(500, "", "1 of 10 failed")).await,
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    authentication: no such key: [redacted]! (status 401)
    authentication: key=[redacted] (status 401)
    invalid request: POST BASE/[redacted]/chat/completions: no such page; expected a base URL that ends before /chat/completions, often in /v1 (status 404)
    transport: POST BASE/[redacted]/chat/completions: the connection was lost: connection closed before message completed
    invalid request: POST BASE/chat/completions: none; expected a base URL that ends before /chat/completions, often in /v1 (status 405)
    server: 1 of 10 failed (status 500)
    ");
}

#[test]
fn clients_and_settings_do_not_show_the_key() {
    let url = format!("http://me:{KEY}@localhost");
    let of = |url: &str, model: &str| {
        let builder = OpenAiClient::builder(url, model)
            .with_api_key(KEY)
            .with_header("x", KEY);
        let shown = format!("{builder:#?}");
        format!("{shown} {:#?}", builder.build())
    };
    let wrong = OpenAiClient::builder(KEY, "m").with_api_key(format!("{KEY}\n"));
    let unnamed = OpenAiClient::builder("http://h", "m")
        .with_api_key(KEY)
        .with_header(KEY, "v");
    let anthropic = AnthropicClient::builder("http://h", KEY).with_api_key(KEY);
    let ollama = OllamaClient::builder(KEY, KEY).with_api_key(KEY);
    let embedder = OpenAiEmbedder::builder("http://h", KEY).with_api_key(KEY);
    for shown in [
        of(&url, KEY),
        of(&url, "m"),
        of("http://h", KEY),
        format!("{:#?}", unnamed.build().unwrap_err()),
        format!("{:#?}", wrong.build().unwrap_err()),
        format!("{:#?}", anthropic.build().unwrap()),
        format!("{:#?}", ollama.build().unwrap_err()),
        format!("{:#?}", embedder.build().unwrap()),
    ] {
        assert_hidden(&shown, "settings");
    }

    let key = "sk-SECRETKEY0123456789";
    let client = OpenAiClient::builder(format!("http://{key}/{key}/v1"), key).with_api_key(key);
    insta::assert_snapshot!(format!("{:?}", client.build().unwrap()), @r#"OpenAiClient { base_url: "http://[redacted]/[redacted]/v1", model: "[redacted]", .. }"#);
}
