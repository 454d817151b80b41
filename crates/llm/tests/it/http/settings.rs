//! Every wrong setting is an error before the first call.

use std::collections::HashMap;

use cogwork_llm::backend::Capability;
use cogwork_llm::http::OpenAiClientBuilder;
use cogwork_llm::{LlmClient, LlmErrorKind, OpenAiClient};

use crate::table::check;

fn problem(builder: OpenAiClientBuilder) -> String {
    let error = builder.build().unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Settings);
    assert!(!error.is_retryable());
    error.to_string().replace("settings: ", "")
}

fn good() -> OpenAiClientBuilder {
    OpenAiClient::builder("http://localhost:1", "m")
}

/// One that may hold a secret isn't shown.
#[tokio::test]
async fn base_urls_are_checked() {
    let table = r#"
        "" | "api.openai.com/v1" | "/v1" => (not shown: it may contain a secret) cannot be parsed: relative URL without a base; expected one like https://api.openai.com/v1
        "http://" | "http://:8080/v1" => it cannot be parsed: empty host; expected one like https://api.openai.com/v1
        "http://[::1" => it cannot be parsed: invalid IPv6 address; expected one like https://api.openai.com/v1
        "http://host:99999" => it cannot be parsed: invalid port number; expected one like https://api.openai.com/v1
        "localhost:8080/v1" | "ftp://host/v1" | "file:///etc/passwd" | "unix:/run/llm.sock" => it is not an HTTP URL; expected one that begins with http:// or https://
        "http:///v1" | "http:h" | "HTTP:/h/v1" | "http:\\\\h" | "http://\\h" | "https:///v1" => it has no host; expected one like https://api.openai.com/v1
        "http://host/v1#top" | "http://host/v1?key=1#top" => "http://host/v1" has a fragment; remove it
        "http://me@host" | "http://me:secret@host/v1" | "http://:secret@host/v1" => (not shown: it may contain a secret) contains credentials; pass them as the API key or in a header
        "http://me:secret@host:99999" => (not shown: it may contain a secret) cannot be parsed: invalid port number; expected one like https://api.openai.com/v1
        "sk-0123456789" | "sk-01234/56789+=" | "01234.56789" => (not shown: it may contain a secret) cannot be parsed: relative URL without a base; expected one like https://api.openai.com/v1
        "host:1/sk-01234567890" => "host:1/[redacted]" is not an HTTP URL; expected one that begins with http:// or https://
    "#;
    check(table, async |url| {
        let url: String = serde_json::from_str(url).unwrap();
        let told = problem(OpenAiClient::builder(&url, "m").with_api_key("sk-01234567890"));
        told.replace("the base URL ", "")
            .replace(&format!("{url:?}"), "it")
    })
    .await;

    let long = problem(OpenAiClient::builder(
        format!("host:{}", "x".repeat(100_000)),
        "m",
    ));
    let shown = format!("host:{}… is not", "x".repeat(493));
    assert!(long.contains(&shown), "{long}");
}

#[tokio::test]
async fn good_base_urls_are_taken_and_shown_as_they_were_given() {
    let table = "
        http://localhost:8080 => http://localhost:8080
        http://localhost:8080/ => http://localhost:8080
        https://api.openai.com/v1// => https://api.openai.com/v1
        HTTP://[::1]:8080/a/b => HTTP://[::1]:8080/a/b
        http://192.168.1.7/v1 => http://192.168.1.7/v1
        http://host/deployments/d/?api-version=1 => http://host/deployments/d
    ";
    check(table, async |url| {
        let client = OpenAiClient::builder(url, "m").with_api_key("k");
        let shown = format!("{:?}", client.build().unwrap());
        let name = shown.split('"').nth(1).unwrap();
        let expected = format!("OpenAiClient {{ base_url: {name:?}, model: \"m\", .. }}");
        assert_eq!(shown, expected);
        name.to_owned()
    })
    .await;
}

#[test]
fn other_settings_are_checked_and_all_problems_reported_at_once() {
    let keys = ["", "sk-1\n", "sk 1", "sk-\u{0}", "sk-\u{e9}", "\u{7f}"];
    let models = ["", " ", "\n"].map(|model| OpenAiClient::builder("http://localhost", model));
    let keyed_by_pairs = HashMap::from([((1, 2), 3)]);
    let others = [
        good().with_header("ok", "1").with_header("not ok", "1"),
        good().with_header("X-One", "a\nb"),
        good().with_extra("model", true),
        good().with_extra("messages", true),
        good().with_extra("stream", true),
        good().with_extra("pairs", keyed_by_pairs),
        OpenAiClient::builder("nowhere", "").with_api_key(""),
    ];
    let keys = keys.map(|key| good().with_api_key(key));
    let all = models.into_iter().chain(keys).chain(others);
    let mut told: Vec<_> = all.map(problem).collect();
    told.dedup();
    insta::assert_snapshot!(told.join("\n"), @r#"
    the model is empty; expected the name of a model on the server
    the API key is empty or contains a space, a line break or a character outside ASCII; expected visible ASCII
    a header is not valid; expected a name of letters, digits and dashes, and a value of visible ASCII
    the extra field "model" is set by the client; choose a different name
    the extra field "messages" is set by the client; choose a different name
    the extra field "stream" is set by the client; choose a different name
    the extra field "pairs" cannot be serialized as JSON: key must be a string
    the base URL (not shown: it may contain a secret) cannot be parsed: relative URL without a base; expected one like https://api.openai.com/v1; the model is empty; expected the name of a model on the server; the API key is empty or contains a space, a line break or a character outside ASCII; expected visible ASCII
    "#);
}

#[test]
fn a_model_may_have_fewer_capabilities_than_the_protocol() {
    let client = good().without(Capability::Tools).build().unwrap();
    assert!(!client.capabilities().has(Capability::Tools));
    assert!(client.capabilities().has(Capability::JsonSchema));
}
