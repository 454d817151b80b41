//! The key is in the `Authorization` header and nowhere else.

use std::error::Error;
use std::time::Duration;

use cogwork_llm::{AnthropicClient, LlmClient, LlmError, OllamaClient, OpenAiClient};
use futures_util::future::join_all;
use proptest::prelude::*;

use crate::http::support::{Answer, Server, answer, ask, bytes, follow, ok, streamed};

const KEY: &str = "sk-proj-a+b/c=0123456789\"<&'%>XYZ";
const SECOND_KEY: &str = "sk-proj-second-0123456789";

/// Long enough for a loaded machine to answer, short enough to wait for.
const SHORT: Duration = Duration::from_millis(300);

/// All that can be seen of an error.
fn everything(error: &LlmError) -> String {
    let mut all = format!(
        "{error}\n{error:#}\n{error:?}\n{error:#?}\n{}\n{:?}",
        error.message(),
        error.body()
    );

    let mut source = error.source();
    while let Some(inner) = source {
        all += &format!("\n{inner}\n{inner:#}\n{inner:?}\n{inner:#?}");
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

fn client(server: &Server) -> OpenAiClient {
    patient_client(server, Duration::from_secs(30))
}

fn patient_client(server: &Server, timeout: Duration) -> OpenAiClient {
    OpenAiClient::builder(server.base_url(), "m")
        .with_api_key(KEY)
        .with_header("X-Second-Key", SECOND_KEY)
        .with_timeout(timeout)
        .build()
        .unwrap()
}

/// Every client, with the key in the place of each.
fn everyone(server: &Server, timeout: Duration) -> [Box<dyn LlmClient>; 3] {
    let origin = server.origin();
    [
        Box::new(patient_client(server, timeout)),
        Box::new(
            AnthropicClient::builder(&origin, "m")
                .with_api_key(KEY)
                .with_header("X-Second-Key", SECOND_KEY)
                .with_timeout(timeout)
                .build()
                .unwrap(),
        ),
        Box::new(
            OllamaClient::builder(&origin, "m")
                .with_api_key(KEY)
                .with_header("X-Second-Key", SECOND_KEY)
                .with_timeout(timeout)
                .build()
                .unwrap(),
        ),
    ]
}

fn unicode_escaped(text: &str) -> String {
    text.chars()
        .map(|c| format!("\\u{:04X}", c as u32))
        .collect()
}

#[tokio::test]
async fn no_error_shows_the_key_whatever_the_server_echoes() {
    let json = serde_json::to_string(KEY).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    let slashed = json.replace('/', "\\/");
    let html = KEY
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;");

    let url: String = KEY
        .chars()
        .map(|c| {
            if c.is_alphanumeric() {
                c.to_string()
            } else {
                format!("%{:02X}", c as u32)
            }
        })
        .collect();

    let escaped = unicode_escaped(KEY);
    let bodies = [
        format!("Authorization: Bearer {KEY}"),
        format!("{}{KEY}", "x".repeat(290)),
        format!("{}{KEY}", "x".repeat(485)),
        KEY.repeat(100),
        format!(r#"{{"error":{{"message":{json},"code":{json},"type":{json}}}}}"#),
        format!(r#"{{"error":{{"message":{slashed}}}}}"#),
        format!(r#"{{"error":{{"message":"wrong key {escaped}"}}}}"#),
        format!(r#"{{"error":{twice}}}"#),
        format!(r#"{{"headers":{{"authorization":["Bearer",{json}]}}}}"#),
        format!(r#"{{"choices":{json}}}"#),
        format!(r#"{{"choices":[{{"message":{json}}}]}}"#),
        format!(r#"{{"choices":[{{"message":{{"content":{{"{KEY}":1}}}}}}]}}"#),
        format!(r#"{{"choices":[{{"message":{{"refusal":{json}}}}}]}}"#),
        format!("<html>{html}</html>"),
        format!("<html><title>{html}</title></html>"),
        format!("<html><title>{KEY}</title></html>"),
        format!("key={url}"),
        format!("second: {SECOND_KEY}"),
    ];

    for status in [200, 301, 400, 401, 404, 429, 500] {
        for body in &bodies {
            let echo = format!("x-request-id: {KEY}\r\n");
            let server = Server::start(std::iter::repeat_n(answer(status, &echo, body), 6)).await;
            for client in everyone(&server, Duration::from_secs(30)) {
                for error in [
                    ask(&client).await.unwrap_err(),
                    follow(&client).await.1.unwrap_err(),
                ] {
                    assert_hidden(&everything(&error), &format!("{status} {body}"));
                    assert_eq!(error.status(), Some(status));
                }
            }
        }
    }
}

#[tokio::test]
async fn no_error_within_a_stream_shows_the_key() {
    let json = serde_json::to_string(KEY).unwrap();
    for event in [
        format!(r#"{{"error":{{"message":{json},"code":{json}}}}}"#),
        format!(r#"{{"error":{json}}}"#),
        format!(r#"{{"type":"error","message":{json}}}"#),
        format!(r#"{{"choices":{json}}}"#),
        format!(r#"[{{"type":{json}}}]"#),
        format!("{{{json}:"),
        format!("Bearer {KEY}"),
    ] {
        let lines = format!("{event}\n\nnot JSON {KEY}\n");
        let named = format!("event: error\ndata: {event}\n\n");
        let plain = format!("data: {event}\n\ndata: not JSON {KEY}\n\n");
        let whole = [plain.clone(), named, lines].map(|body| Answer::Raw(streamed(&body)));
        let broken = [
            Answer::Reset(streamed(&plain[..plain.len() - 3])),
            Answer::Stall(streamed("data: ")),
        ];
        let answers = whole.into_iter().chain(broken);
        join_all(answers.map(|answer| assert_none_shows_the_key(answer, &event))).await;
    }
}

/// Follows a stream with every client at once, so that they wait for their timeouts together.
async fn assert_none_shows_the_key(answer: Answer, event: &str) {
    let server = Server::start(std::iter::repeat_n(answer, 3)).await;
    let clients = everyone(&server, Duration::from_millis(200));

    for (_, outcome) in join_all(clients.iter().map(follow)).await {
        assert_hidden(&everything(&outcome.unwrap_err()), event);
    }
}

/// Everything that a run which fails leaves behind: on file, in spans, on the screen.
#[tokio::test]
async fn cassettes_spans_and_clients_around_clients_do_not_show_the_key() {
    use cogwork_llm::{Backoff, Budget, Cache, Fallback, Recorder, Retry, Tracing};

    #[derive(Clone, Default)]
    struct Lines(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(move || writer.clone())
        .finish();

    let _guard = tracing::subscriber::set_default(subscriber);

    let json = serde_json::to_string(KEY).unwrap();
    let echo = format!("x-request-id: {KEY}\r\n");
    let answers = [
        answer(500, &echo, &format!(r#"{{"error":{{"message":{json}}}}}"#)),
        Answer::Raw(streamed(&format!(
            "data: {{\"error\":{json}}}\n\n{{\"error\":{json}}}\n"
        ))),
        Answer::Reset(bytes(200, &echo, &json[..20], 1000)),
    ];

    let folder = tempfile::tempdir().unwrap();
    let mut shown = String::new();
    for (number, answer) in answers.into_iter().enumerate() {
        let server = Server::start(std::iter::repeat_n(answer, 24)).await;
        for (client, other) in everyone(&server, SHORT)
            .into_iter()
            .zip(everyone(&server, SHORT))
        {
            let path = folder.path().join(format!("{number}.yaml"));
            let _ = std::fs::remove_file(&path);
            let client = Tracing::new(client).with_content(true);
            let client = Retry::new(client, Backoff::of::<2>().with_first(Duration::ZERO));
            let client = Cache::new(Budget::new(Fallback::new(client, other)));
            let client = Recorder::create(client, &path).unwrap();

            shown += &everything(&ask(&client).await.unwrap_err());
            shown += &everything(&follow(&client).await.1.unwrap_err());
            shown += &std::fs::read_to_string(&path).unwrap();
        }
    }

    shown += &String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(shown.contains("[redacted]") && shown.contains("gen_ai.input.messages"));

    assert_hidden(&shown, "left behind");
}

/// Every place where a server's words come to be shown, with these words in it.
fn places_of(words: &str) -> Vec<(u16, String)> {
    let json = serde_json::to_string(words).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    let bodies = [
        words.to_owned(),
        json.clone(),
        format!(r#"{{"error":{{"message":{json}}}}}"#),
        format!(r#"{{"error":{{"message":{twice}}}}}"#),
        format!(r#"{{"error":{{"error":{json}}}}}"#),
        format!(r#"{{"detail":[{json}]}}"#),
        format!(r#"{{"choices":{json}}}"#),
        format!(r#"{{"content":{json}}}"#),
        format!(r#"{{"message":{json}}}"#),
        format!(r#"{{"choices":[{{"message":{{"refusal":{json}}}}}]}}"#),
        format!("data: {{\"error\":{{\"message\":{json}}}}}\n\n"),
        format!("event: error\ndata: {json}\n\n"),
        format!("data: {json}\n\n"),
        format!("data: {{\"choices\":[{{\"delta\":{{\"refusal\":{json}}}}}]}}\n\ndata: [DONE]\n\n"),
        format!("{{\"error\":{json}}}\n"),
        format!("<html><title>{words}</title></html>"),
        format!("<html><title>{}</title></html>", "x".repeat(10_000) + words),
    ];

    let failures: Vec<_> = bodies
        .iter()
        .take(5)
        .map(|body| (400, body.clone()))
        .collect();

    bodies
        .into_iter()
        .map(|body| (200, body))
        .chain(failures)
        .collect()
}

/// What is shown depends on a beginning of what a server says, of a length that depends on nothing else: no
/// more of it can be looked at. Between the halves of a key there may be any number of backslashes.
#[tokio::test]
async fn nothing_behind_a_beginning_of_what_a_server_says_is_looked_at() {
    let (first, last) = KEY.split_at(13);
    let texts = [
        format!("{first}{}{last}", "\\".repeat(12_000)),
        "x".repeat(12_000),
    ];

    let with_tail = |tail: &str| -> Vec<_> {
        texts
            .iter()
            .flat_map(|text| places_of(&format!("{text} {tail}")))
            .collect()
    };

    let ones = with_tail("one");
    let others = with_tail("other");
    let both = ones
        .iter()
        .zip(&others)
        .flat_map(|(one, other)| [one, other]);
    let answers = both.flat_map(|(status, body)| vec![answer(*status, "", body); 4]);
    let server = Server::start(answers).await;
    let clients = everyone(&server, Duration::from_secs(30));

    for (status, one) in &ones {
        let mut shown = Vec::new();
        for _ in 0..2 {
            let [openai, anthropic, ollama] = &clients;
            let outcomes = [
                ask(openai).await,
                follow(openai).await.1,
                ask(anthropic).await,
                ask(ollama).await,
            ];

            shown.extend(
                outcomes.map(|outcome| {
                    outcome.map_or_else(|error| everything(&error), |_| String::new())
                }),
            );
        }

        let case = format!("{status} {}", one.chars().take(60).collect::<String>());
        shown.iter().for_each(|shown| assert_hidden(shown, &case));
        let (with_one, with_other) = shown.split_at(4);
        assert_eq!(with_one, with_other, "{case}");
    }
}

/// A beginning of the key at the end of a text that breaks off is hidden, with what is left of an escape.
#[tokio::test]
async fn no_beginning_of_the_key_shows_where_a_text_breaks_off() {
    let forms: [fn(char) -> String; 4] = [
        |c| c.to_string(),
        |c| format!("\\\\\\u{:04x}", c as u32),
        |c| format!("&#x{:x};", c as u32),
        |c| format!("%{:02X}", c as u32),
    ];
    for form in forms {
        let spelt: String = KEY.chars().map(form).collect();
        let four: String = KEY.chars().take(4).map(form).collect();
        for end in four.len()..spelt.len() {
            let body = format!("key={}", &spelt[..end]);
            let server = Server::start([answer(401, "", &body)]).await;
            let error = ask(&client(&server)).await.unwrap_err();
            assert_eq!(error.message(), "key=[redacted]", "{body}");
        }
    }
}

#[tokio::test]
async fn what_is_hidden_is_marked() {
    let server = Server::start([answer(401, "", &format!("no such key: {KEY}!"))]).await;
    let error = ask(&client(&server)).await.unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "authentication: no such key: [redacted]! (status 401)\nno such key: [redacted]!"
    );
}

#[tokio::test]
async fn a_key_in_the_path_of_the_base_url_is_hidden() {
    let server = Server::start([answer(404, "", "no such page"), Answer::Raw(Vec::new())]).await;
    let url = format!("{}/sk-proj-0123456789", server.base_url());
    let client = OpenAiClient::builder(url, "m")
        .with_api_key("sk-proj-0123456789")
        .build()
        .unwrap();
    let base = server.base_url();

    assert_eq!(
        ask(&client).await.unwrap_err().to_string(),
        format!(
            "invalid request: POST {base}/[redacted]/chat/completions: no such page; \
             expected a base URL that ends before /chat/completions, often in /v1 (status 404)"
        )
    );

    let broken = ask(&client).await.unwrap_err();
    assert_hidden(&everything(&broken), "broken");
    assert!(
        broken
            .to_string()
            .starts_with(&format!("transport: POST {base}/[redacted]/chat")),
        "{broken}"
    );
}

#[tokio::test]
async fn a_key_that_is_a_word_of_the_address_leaves_it_readable() {
    let server = Server::start([answer(404, "", "none")]).await;
    let client = OpenAiClient::builder(server.base_url(), "m")
        .with_api_key("http")
        .build()
        .unwrap();
    let text = ask(&client).await.unwrap_err().to_string();
    assert!(
        text.starts_with(&format!("invalid request: POST {}/", server.base_url())),
        "{text}"
    );
}

#[tokio::test]
async fn broken_connections_do_not_show_the_key() {
    let half_a_key = format!("{{\"key\": \"{}", &KEY[..20]);
    let answers = [
        Answer::Raw(Vec::new()),
        Answer::Raw(bytes(200, "", &half_a_key, 1000)),
        Answer::Raw(bytes(401, "", &half_a_key, 1000)),
        Answer::Reset(bytes(200, "", &half_a_key, 1000)),
        Answer::Stall(bytes(200, "", &half_a_key, 1000)),
        Answer::Raw(format!("{KEY}\r\n\r\n").into_bytes()),
        answer(
            302,
            &format!("location: http://{SECOND_KEY}.example/?k={KEY}\r\n"),
            "",
        ),
    ];

    let checks = answers.map(async |answer| {
        let server = Server::start(std::iter::repeat_n(answer, 6)).await;
        let clients = everyone(&server, Duration::from_millis(200));
        let asked = join_all(clients.iter().map(ask)).await;
        let followed = join_all(clients.iter().map(follow)).await;

        let outcomes = asked
            .into_iter()
            .chain(followed.into_iter().map(|(_, end)| end));
        for outcome in outcomes {
            assert_hidden(&everything(&outcome.unwrap_err()), "broken");
        }
    });

    join_all(checks).await;
}

#[tokio::test]
async fn clients_and_settings_do_not_show_the_key() {
    let server = Server::start([ok("{}")]).await;
    let client = client(&server);
    assert_eq!(
        format!("{client:?}"),
        format!(
            "OpenAiClient {{ base_url: {:?}, model: \"m\", .. }}",
            server.base_url()
        )
    );

    assert_hidden(&format!("{client:#?}"), "client");
    let builder = OpenAiClient::builder(format!("http://me:{KEY}@localhost"), "m")
        .with_api_key(KEY)
        .with_header("x", KEY);
    assert_hidden(&format!("{builder:?} {builder:#?}"), "builder");

    for shown in [
        format!("{:?}", AnthropicClient::builder(KEY, KEY).with_api_key(KEY)),
        format!(
            "{:?}",
            AnthropicClient::builder(KEY, KEY)
                .with_api_key(KEY)
                .build()
                .unwrap_err()
        ),
        format!(
            "{:?}",
            AnthropicClient::builder("http://h", KEY)
                .with_api_key(KEY)
                .build()
                .unwrap()
        ),
        format!("{:?}", OllamaClient::builder(KEY, KEY).with_api_key(KEY)),
        format!(
            "{:?}",
            OllamaClient::builder(KEY, KEY)
                .with_api_key(KEY)
                .build()
                .unwrap_err()
        ),
        format!(
            "{:?}",
            OllamaClient::builder("http://h", KEY)
                .with_api_key(KEY)
                .build()
                .unwrap()
        ),
    ] {
        assert_hidden(&shown, "others");
    }

    let error = builder
        .with_api_key(format!("{KEY}\n"))
        .with_header(KEY, "v")
        .build()
        .unwrap_err();

    assert_hidden(&everything(&error), "settings");
}

#[tokio::test]
async fn a_key_in_another_setting_is_hidden_in_debug() {
    let key = "sk-SECRETKEY0123456789";
    let settings =
        || OpenAiClient::builder(format!("http://{key}/{key}/v1"), key).with_api_key(key);
    assert_eq!(
        format!("{:?}", settings()),
        r#"OpenAiClientBuilder { model: "[redacted]", .. }"#
    );
    assert_eq!(
        format!("{:?}", settings().build().unwrap()),
        r#"OpenAiClient { base_url: "http://[redacted]/[redacted]/v1", model: "[redacted]", .. }"#
    );
}

#[tokio::test]
async fn a_key_in_other_case_is_hidden() {
    let key = "sk-SECRETKEYu0123456789";
    let location = format!("location: https://{key}.evil/\r\n");
    let escaped = unicode_escaped(&key.to_uppercase());
    let encoded: String = key
        .to_lowercase()
        .bytes()
        .map(|b| format!("%{b:02X}"))
        .collect();

    for (answer, said) in [
        (
            answer(302, &location, ""),
            "the server redirects to [redacted].evil, and redirects are not followed; \
             expected a base URL without redirects",
        ),
        (
            answer(400, "", &format!("no {}!", key.to_lowercase())),
            "no [redacted]!",
        ),
        (
            answer(400, "", &format!("no {}!", key.to_uppercase())),
            "no [redacted]!",
        ),
        (
            answer(400, "", &format!("no {}!", unicode_escaped(key))),
            "no [redacted]!",
        ),
        (answer(400, "", &format!("no {escaped}!")), "no [redacted]!"),
        (answer(400, "", &format!("no {encoded}!")), "no [redacted]!"),
    ] {
        let server = Server::start([answer]).await;
        let client = OpenAiClient::builder(server.base_url(), "m")
            .with_api_key(key)
            .build()
            .unwrap();
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.message(), said);
        assert!(
            !everything(&error).to_lowercase().contains("secretkey"),
            "{error:#}"
        );
    }
}

#[tokio::test]
async fn a_short_header_value_is_no_secret() {
    let server = Server::start([answer(500, "", "1 of 10 failed")]).await;
    let client = OpenAiClient::builder(server.base_url(), "m")
        .with_header("x-version", "1")
        .build()
        .unwrap();
    assert_eq!(ask(&client).await.unwrap_err().message(), "1 of 10 failed");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn the_key_is_hidden_at_any_place_in_any_spelling(
        // Without the letters that pieces of the key begin with, so that none is there by chance.
        before in "[^sX]{0,520}",
        after in "[^sX]{0,20}",
        spelling in 0..7_u8,
        status in prop_oneof![Just(200_u16), Just(401), Just(500)],
    ) {
        let key = match spelling {
            0 => KEY.to_owned(),
            1 => unicode_escaped(KEY),
            2 => KEY.chars().map(|c| format!("&#{};", c as u32)).collect(),
            4 => KEY[..20].to_owned(),
            5 => KEY[KEY.len() - 20..].to_owned(),
            6 => KEY.chars().map(|c| format!("{c}\\n\\r\\t")).collect(),
            _ => KEY.bytes().map(|b| format!("%{b:02x}")).collect(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(async {
            let server = Server::start([answer(status, "", &format!("{before}{key}{after}"))]).await;
            ask(&client(&server)).await.unwrap_err()
        });
        let shown = everything(&error);
        assert_hidden(&shown, &before);
        // Not a spelled-out beginning either: five characters of it are more than chance.
        let start: String = match spelling {
            0 => KEY[..5].to_owned(),
            1 => unicode_escaped(&KEY[..5]).replace('\\', ""),
            2 => KEY[..5].chars().map(|c| format!("&#{};", c as u32)).collect(),
            4 => KEY[..5].to_owned(),
            5 => KEY[KEY.len() - 20..][..5].to_owned(),
            6 => KEY[..5].chars().map(|c| format!("{c}nrt")).collect(),
            _ => KEY[..5].bytes().map(|b| format!("%{b:02x}")).collect(),
        };
        prop_assert!(!shown.replace('\\', "").contains(&start), "{}", shown);
    }
}
