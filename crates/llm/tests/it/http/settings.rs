//! Every wrong setting is an error before the first call.

use std::time::Duration;

use cogwork_llm::{LlmErrorKind, OpenAiClient, OpenAiClientBuilder};

fn problem(builder: OpenAiClientBuilder) -> String {
    let error = builder.build().unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Settings);
    assert!(!error.is_retryable());

    error
        .to_string()
        .strip_prefix("settings: ")
        .unwrap()
        .to_owned()
}

fn good() -> OpenAiClientBuilder {
    OpenAiClient::builder("http://localhost:1", "m")
}

#[test]
fn base_urls_are_checked() {
    let unreadable =
        |why: &str| format!("cannot be parsed: {why}; expected one like https://api.openai.com/v1");
    let no_http =
        "is not an HTTP URL; expected one that begins with http:// or https://".to_owned();
    let no_host = |scheme: &str| {
        format!("has no host; expected one after {scheme}://, as in https://api.openai.com/v1")
    };
    let query = "has a query or a fragment; remove it".to_owned();
    let space = "contains a space or a line break; remove it".to_owned();
    let whole =
        "ends in /chat/completions, which the client appends; expected it to end before that, often in /v1"
            .to_owned();

    for (url, shown, expected) in [
        (
            "api.openai.com/v1",
            r#""api.openai.com/v1""#,
            unreadable("relative URL without a base"),
        ),
        ("/v1", r#""/v1""#, unreadable("relative URL without a base")),
        ("http://", r#""http://""#, unreadable("empty host")),
        (
            "http://[::1",
            r#""http://[::1""#,
            unreadable("invalid IPv6 address"),
        ),
        (
            "http://host:99999",
            r#""http://host:99999""#,
            unreadable("invalid port number"),
        ),
        (
            "localhost:8080/v1",
            r#""localhost:8080/v1""#,
            no_http.clone(),
        ),
        ("http:///v1", r#""http:///v1""#, no_host("http")),
        ("https:///v1", r#""https:///v1""#, no_host("https")),
        ("http:h", r#""http:h""#, no_host("http")),
        ("HTTP:/h/v1", r#""HTTP:/h/v1""#, no_host("http")),
        ("http:\\\\h", r#""http:\\\\h""#, no_host("http")),
        ("http://\\h", r#""http://\\h""#, no_host("http")),
        (
            "http://:8080/v1",
            r#""http://:8080/v1""#,
            unreadable("empty host"),
        ),
        ("ftp://host/v1", r#""ftp://host/v1""#, no_http.clone()),
        (
            "file:///etc/passwd",
            r#""file:///etc/passwd""#,
            no_http.clone(),
        ),
        ("unix:/run/llm.sock", r#""unix:/run/llm.sock""#, no_http),
        (
            "http://host/v1?key=1",
            r#""http://host/v1?…""#,
            query.clone(),
        ),
        ("http://host/v1#top", r#""http://host/v1#…""#, query),
        ("http://host/v1\n", r#""http://host/v1\n""#, space.clone()),
        (" http://host", r#"" http://host""#, space.clone()),
        ("http://ho\tst", r#""http://ho\tst""#, space),
        (
            "http://host/chat/completions",
            r#""http://host/chat/completions""#,
            whole.clone(),
        ),
        (
            "http://host/v1/chat/completions/",
            r#""http://host/v1/chat/completions/""#,
            whole,
        ),
    ] {
        assert_eq!(
            problem(OpenAiClient::builder(url, "m")),
            format!("the base URL {shown} {expected}")
        );
    }

    assert_eq!(
        problem(OpenAiClient::builder("", "m")),
        "the base URL is empty; expected one like https://api.openai.com/v1"
    );
}

#[test]
fn a_base_url_that_may_hold_a_secret_is_not_shown() {
    for url in [
        "http://me@host",
        "http://me:secret@host/v1",
        "http://:secret@host/v1",
    ] {
        assert_eq!(
            problem(OpenAiClient::builder(url, "m")),
            "the base URL (not shown: it may contain a secret) contains credentials; pass them as the API key or in a header"
        );
    }

    assert_eq!(
        problem(OpenAiClient::builder("http://me:secret@host:99999", "m")),
        "the base URL (not shown: it may contain a secret) cannot be parsed: invalid port number; \
         expected one like https://api.openai.com/v1"
    );

    for key in ["sk-0123456789", "sk-01234/56789+=", "01234.56789"] {
        assert_eq!(
            problem(OpenAiClient::builder(key, "m")),
            "the base URL (not shown: it may contain a secret) cannot be parsed: relative URL without a base; \
             expected one like https://api.openai.com/v1"
        );
    }

    assert_eq!(
        problem(OpenAiClient::builder("host:1/sk-0123456789", "m").with_api_key("sk-0123456789")),
        "the base URL \"host:1/[redacted]\" is not an HTTP URL; expected one that begins with http:// or https://"
    );
}

#[test]
fn a_long_base_url_is_cut() {
    let url = format!("host:{}", "x".repeat(100_000));
    assert_eq!(
        problem(OpenAiClient::builder(url, "m")),
        format!(
            "the base URL \"host:{}… is not an HTTP URL; expected one that begins with http:// or https://",
            "x".repeat(293)
        )
    );
}

#[test]
fn good_base_urls_are_taken_and_shown_as_they_were_given() {
    for (url, shown) in [
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://localhost:8080/", "http://localhost:8080"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1//", "https://api.openai.com/v1"),
        ("HTTP://[::1]:8080/a/b", "HTTP://[::1]:8080/a/b"),
        ("http://192.168.1.7/v1", "http://192.168.1.7/v1"),
    ] {
        let client = OpenAiClient::builder(url, "m")
            .with_api_key("k")
            .build()
            .unwrap();
        assert_eq!(
            format!("{client:?}"),
            format!("OpenAiClient {{ base_url: {shown:?}, model: \"m\", .. }}")
        );
    }
}

#[test]
fn a_model_has_a_name() {
    for model in ["", " ", "\n"] {
        assert_eq!(
            problem(OpenAiClient::builder("http://localhost", model)),
            "the model is empty; expected the name of a model on the server"
        );
    }
}

#[test]
fn a_key_is_visible_ascii() {
    for key in ["", "sk-1\n", "sk 1", "sk-\u{0}", "sk-\u{e9}", "\u{7f}"] {
        assert_eq!(
            problem(good().with_api_key(key)),
            "the API key is empty or contains a space, a line break or a character outside ASCII; \
             expected visible ASCII",
            "{key:?}"
        );
    }
}

#[test]
fn headers_are_checked() {
    assert_eq!(
        problem(good().with_header("ok", "1").with_header("not ok", "1")),
        "the name of header 2 is not valid; expected letters, digits and dashes"
    );
    assert_eq!(
        problem(good().with_header("X-One", "a\nb")),
        "the value of the header x-one is not valid; expected visible ASCII"
    );
    assert_eq!(
        problem(good().with_header("Content-Length", "0")),
        "the header content-length is set by the client; choose a different name"
    );
}

#[test]
fn extra_fields_are_checked() {
    for name in ["model", "messages", "stream"] {
        assert_eq!(
            problem(good().with_extra(name, true)),
            format!("the extra field {name:?} is set by the client; choose a different name")
        );
    }

    let keyed_by_pairs = std::collections::HashMap::from([((1, 2), 3)]);
    assert_eq!(
        problem(good().with_extra("pairs", keyed_by_pairs)),
        "the extra field \"pairs\" cannot be serialized as JSON: key must be a string"
    );
}

#[test]
fn limits_are_above_zero() {
    assert_eq!(
        problem(good().with_timeout(Duration::ZERO)),
        "the timeout is zero; expected a longer time"
    );
    assert_eq!(
        problem(good().with_connect_timeout(Duration::ZERO)),
        "the connect timeout is zero; expected a longer time"
    );
    assert_eq!(
        problem(good().with_max_response_bytes(0)),
        "the maximum response size is 0 bytes; expected at least 1"
    );
}

#[tokio::test]
async fn the_largest_limits_are_taken() {
    let server = crate::http::support::Server::start([crate::http::support::says("Hi.")]).await;
    let client = OpenAiClient::builder(server.base_url(), "m")
        .with_timeout(Duration::MAX)
        .with_connect_timeout(Duration::MAX)
        .with_max_response_bytes(usize::MAX)
        .build()
        .unwrap();

    assert_eq!(
        crate::http::support::ask(&client).await.unwrap().text(),
        "Hi."
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    let builder = OpenAiClient::builder("nowhere", "")
        .with_api_key("")
        .with_extra("stream", true)
        .with_timeout(Duration::ZERO);
    assert_eq!(
        problem(builder)
            .split("; ")
            .filter(|part| !part.starts_with("expected") && !part.starts_with("choose"))
            .count(),
        5
    );
}
