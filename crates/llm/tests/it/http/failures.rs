//! Each failure that a server reports has its kind.

use std::time::{Duration, SystemTime};

use cogwork_llm::{Backoff, LlmError, LlmErrorKind as Kind, Retry};
use cogwork_read::testing::assert_at_most_doubled;

use crate::http::support::{Server, answer, ask, ok, outcome, says};

async fn failure(status: u16, body: &str) -> LlmError {
    outcome(answer(status, "", body)).await.unwrap_err()
}

#[tokio::test]
async fn every_status_has_its_kind() {
    let cases = [
        (400, Kind::InvalidRequest),
        (401, Kind::Authentication),
        (402, Kind::Quota),
        (403, Kind::Authentication),
        (408, Kind::Timeout),
        (413, Kind::InvalidRequest),
        (418, Kind::InvalidRequest),
        (422, Kind::InvalidRequest),
        (429, Kind::RateLimit),
        (500, Kind::Server),
        (501, Kind::InvalidRequest),
        (502, Kind::Server),
        (503, Kind::Overloaded),
        (504, Kind::Timeout),
        (505, Kind::InvalidRequest),
        (520, Kind::Server),
        (529, Kind::Overloaded),
        (599, Kind::Server),
    ];
    for (status, kind) in cases {
        let error = failure(status, r#"{"error":{"message":"no"}}"#).await;
        assert_eq!((error.kind(), error.status()), (kind, Some(status)));
        assert_eq!(error.to_string(), format!("{kind}: no (status {status})"));
        assert_eq!(
            format!("{error:#}"),
            format!("{kind}: no (status {status})\n{{\"error\":{{\"message\":\"no\"}}}}")
        );
    }
}

#[tokio::test]
async fn a_wrong_address_is_named() {
    for (status, body, said) in [
        (404, r#"{"detail":"Not Found"}"#, "Not Found"),
        (404, "404 page not found\n", "404 page not found"),
        (
            404,
            "",
            "the server responded 404 Not Found with an empty body",
        ),
        (
            405,
            "<html></html>",
            "the server responded 405 Method Not Allowed with an HTML page",
        ),
        (405, r#"{"error":"No such method."}"#, "No such method"),
    ] {
        let server = Server::start([answer(status, "", body)]).await;
        let error = ask(&server.client()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        assert_eq!(
            error.to_string(),
            format!(
                "invalid request: POST {}/chat/completions: {said}; expected a base URL that ends before \
                 /chat/completions, often in /v1 (status {status})",
                server.base_url()
            )
        );
    }
}

#[tokio::test]
async fn a_model_that_the_server_lacks_is_not_blamed_on_the_address() {
    let server = Server::start([answer(
        404,
        "",
        r#"{"error":{"message":"model 'm' not found"}}"#,
    )])
    .await;
    assert_eq!(
        ask(&server.client()).await.unwrap_err().to_string(),
        format!(
            "invalid request: POST {}/chat/completions: model 'm' not found (status 404)",
            server.base_url()
        )
    );
}

#[tokio::test]
async fn an_html_page_is_cut_to_its_title() {
    let style = "p { margin: 0 }".repeat(1000);
    let cases = [
        (
            format!(
                "<!DOCTYPE html>\n<HTML><head><Title lang=\"en\">\n 502 Bad\nGateway </TITLE><style>{style}"
            ),
            "an HTML page titled \"502 Bad Gateway\"",
        ),
        (
            "<html><p>No.</p></html>".to_owned(),
            "an HTML page without a title",
        ),
        (
            "<html><title> </title></html>".to_owned(),
            "an HTML page without a title",
        ),
        (
            "<html><title>502".to_owned(),
            "an HTML page without a title",
        ),
        (
            format!("<html><style>{style}</style><title>502</title>"),
            "an HTML page without a title",
        ),
    ];

    for (page, shown) in cases {
        assert_eq!(
            format!("{:#}", failure(502, &page).await),
            format!(
                "server: the server responded 502 Bad Gateway with an HTML page (status 502)\n{shown}"
            )
        );
    }

    let xml = "<?xml version=\"1.0\"?><Error>busy</Error>";
    assert_eq!(
        format!("{:#}", failure(503, xml).await),
        format!("overloaded: {xml} (status 503)\n{xml}")
    );
}

#[tokio::test]
async fn the_reason_is_found_in_every_shape() {
    let cases = [
        (
            r#"{"error":{"message":"why","type":"t","code":"c","param":null}}"#,
            "why",
        ),
        (r#"{"error":{"message":"why","code":400}}"#, "why"),
        (
            r#"{"error":{"error":{"message":"why"},"message":"wrapped"}}"#,
            "why",
        ),
        (
            r#"[{"error":{"code":400,"message":"why","status":"INVALID_ARGUMENT"}}]"#,
            "why",
        ),
        (r#"{"error":"why"}"#, "why"),
        (r#"{"message":"why"}"#, "why"),
        (
            r#"{"object":"error","message":"why","type":"BadRequestError","code":400}"#,
            "why",
        ),
        (r#"{"detail":"why"}"#, "why"),
        (
            r#"{"detail":[{"loc":["body"],"msg":"why"}]}"#,
            r#"[{"loc":["body"],"msg":"why"}]"#,
        ),
        (r#""why""#, "why"),
        ("why\r\nand where\n", "why and where"),
        (r#"{"oops":1}"#, r#"{"oops":1}"#),
        (r#"{"error":{"message":17}}"#, "17"),
        (
            "<html><title>400</title></html>",
            "the server responded 400 Bad Request with an HTML page",
        ),
        (
            "",
            "the server responded 400 Bad Request with an empty body",
        ),
    ];
    for (body, message) in cases {
        assert_eq!(
            failure(400, body).await.to_string(),
            format!("invalid request: {message} (status 400)"),
            "{body}"
        );
    }
}

#[tokio::test]
async fn codes_and_words_go_before_the_status() {
    let cases = [
        (
            429,
            r#"{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            Kind::Quota,
        ),
        (
            429,
            r#"{"error":{"message":"m","code":"rate_limit_exceeded"}}"#,
            Kind::RateLimit,
        ),
        (
            400,
            r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#,
            Kind::ContextLength,
        ),
        (
            500,
            r#"{"error":{"message":"m","type":"exceed_context_size_error","code":400}}"#,
            Kind::ContextLength,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens."}}"#,
            Kind::ContextLength,
        ),
        (
            422,
            r#"{"message":"Prompt is too long: 9000 tokens"}"#,
            Kind::ContextLength,
        ),
        (
            400,
            r#"{"error":{"message":"the request exceeds the available context size"}}"#,
            Kind::ContextLength,
        ),
        (
            429,
            r#"{"error":{"message":"the context window of this key is busy"}}"#,
            Kind::RateLimit,
        ),
        (
            400,
            r#"{"error":{"message":"m","code":"content_filter"}}"#,
            Kind::ContentFilter,
        ),
        (
            400,
            r#"{"error":{"message":"m","type":"invalid_request_error"}}"#,
            Kind::InvalidRequest,
        ),
    ];
    for (status, body, kind) in cases {
        assert_eq!(failure(status, body).await.kind(), kind, "{body}");
    }
}

#[tokio::test]
async fn quota_is_not_worth_another_try_and_rate_limit_is() {
    assert!(!failure(402, "").await.is_retryable());
    assert!(
        !failure(429, r#"{"error":{"code":"insufficient_quota"}}"#)
            .await
            .is_retryable()
    );

    assert!(failure(429, "").await.is_retryable());
}

#[tokio::test]
async fn what_a_server_cannot_do_at_all_is_not_worth_another_try() {
    assert!(!failure(501, "").await.is_retryable());
    assert!(!failure(505, "").await.is_retryable());
    assert!(failure(500, "").await.is_retryable());
    assert!(failure(502, "").await.is_retryable());
}

#[tokio::test]
async fn an_error_with_a_good_status_is_an_error() {
    let cases = [
        (r#"{"error":{"message":"m","code":429}}"#, Kind::RateLimit),
        (
            r#"{"error":{"message":"m","code":"503"},"choices":[]}"#,
            Kind::Overloaded,
        ),
        (
            r#"{"error":{"message":"m","type":"rate_limit_error"}}"#,
            Kind::RateLimit,
        ),
        (
            r#"{"error":{"message":"m","type":"overloaded_error"}}"#,
            Kind::Overloaded,
        ),
        (
            r#"{"error":{"message":"m","code":"invalid_api_key"}}"#,
            Kind::Authentication,
        ),
        (
            r#"{"error":{"message":"m","type":"invalid_request_error"}}"#,
            Kind::InvalidRequest,
        ),
        (
            r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#,
            Kind::ContextLength,
        ),
        (r#"{"error":"m"}"#, Kind::Server),
        (
            r#"{"error":{"message":"m","code":"bad-code"}}"#,
            Kind::Server,
        ),
    ];
    for (body, kind) in cases {
        let error = outcome(ok(body)).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{kind}: m (status 200)"),
            "{body}"
        );

        assert_eq!(error.body(), Some(body));
    }
}

async fn wait(headers: &str) -> Option<Duration> {
    outcome(answer(429, headers, ""))
        .await
        .unwrap_err()
        .retry_after()
}

#[tokio::test]
async fn retry_after_is_read_in_every_form() {
    assert_eq!(wait("").await, None);
    assert_eq!(
        wait("retry-after: 7\r\n").await,
        Some(Duration::from_secs(7))
    );
    assert_eq!(
        wait("Retry-After:  0.25 \r\n").await,
        Some(Duration::from_millis(250))
    );
    assert_eq!(wait("retry-after: 0\r\n").await, Some(Duration::ZERO));
    assert_eq!(
        wait("retry-after-ms: 1500\r\nretry-after: 9\r\n").await,
        Some(Duration::from_millis(1500))
    );
    assert_eq!(
        wait("retry-after-ms: soon\r\nretry-after: 9\r\n").await,
        Some(Duration::from_secs(9))
    );
    assert_eq!(
        wait("retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n").await,
        Some(Duration::ZERO)
    );

    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
    let asked = wait(&format!("retry-after: {date}\r\n")).await.unwrap();
    assert!(
        (Duration::from_secs(90)..=Duration::from_secs(100)).contains(&asked),
        "{asked:?}"
    );
    let date =
        |seconds| httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    let ahead = format!(
        "date: {}\r\nretry-after: {}\r\n",
        date(9_000_000_030),
        date(9_000_000_037)
    );

    assert_eq!(
        wait(&ahead).await,
        Some(Duration::from_secs(7)),
        "by the server's clock, whatever ours shows"
    );

    for senseless in ["soon", "-1", "inf", "nan", "1e300", "", "7 s", "\u{e9}"] {
        assert_eq!(
            wait(&format!("retry-after: {senseless}\r\n")).await,
            None,
            "{senseless}"
        );
    }
}

#[tokio::test]
async fn the_wait_shows_in_the_error() {
    let error = outcome(answer(
        429,
        "retry-after: 2\r\n",
        r#"{"error":"slow down"}"#,
    ))
    .await
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "rate limit: slow down (status 429, retry after 2s)"
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_names_its_host() {
    for (status, location, host) in [
        (
            301,
            "location: https://elsewhere.example/v1?token=abc\r\n",
            "elsewhere.example",
        ),
        (
            302,
            "location: //elsewhere.example\r\n",
            "elsewhere.example",
        ),
        (307, "location: /other\r\n", "127.0.0.1"),
        (308, "", "an unnamed host"),
        (303, "location: http://[\r\n", "an unnamed host"),
    ] {
        let server = Server::start([answer(status, location, ""), says("followed")]).await;
        let error = ask(&server.client()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        assert_eq!(
            error.to_string(),
            format!(
                "invalid request: the server redirects to {host}, and redirects are not followed; \
                 expected a base URL without redirects (status {status})"
            )
        );

        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_status_from_300_on_that_is_no_redirect_says_what_it_is() {
    for (status, name) in [
        (300, "300 Multiple Choices"),
        (304, "304 Not Modified"),
        (399, "399"),
    ] {
        let error = outcome(answer(
            status,
            "location: https://elsewhere.example/\r\n",
            "",
        ))
        .await
        .unwrap_err();

        assert_eq!(error.kind(), Kind::InvalidRequest);
        assert_eq!(
            error.to_string(),
            format!(
                "invalid request: the server responded {name} with an empty body (status {status})"
            )
        );
    }
}

#[tokio::test]
async fn long_and_hostile_bodies_are_cut_and_made_harmless() {
    let error = failure(500, &"x".repeat(100_000)).await;
    assert_eq!(error.body().unwrap().chars().count(), 500);
    assert!(error.body().unwrap().ends_with("x…"));
    assert_eq!(error.message().chars().count(), 300);

    let error = failure(500, "a\u{1b}[31mred\u{7}\u{202e}\u{0}\tb\r\nc").await;
    assert_eq!(
        error.message(),
        "a\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd} b c"
    );
    assert_eq!(
        error.body(),
        Some("a\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd}\tb\nc")
    );
    assert_eq!(error.to_string().lines().count(), 1);

    let error = failure(500, &"é".repeat(1000)).await;
    assert_eq!(error.body().unwrap().chars().count(), 500);
}

#[tokio::test]
async fn retry_over_http_waits_and_then_succeeds() {
    let server = Server::start([
        answer(429, "retry-after: 0.05\r\n", ""),
        answer(500, "", "oops"),
        says("third time lucky"),
    ])
    .await;

    let backoff = Backoff::of::<3>().with_first(Duration::from_millis(1));
    let started = std::time::Instant::now();
    let response = ask(&Retry::new(server.client(), backoff)).await.unwrap();
    assert_eq!(response.text(), "third time lucky");
    assert!(started.elapsed() >= Duration::from_millis(50));

    let bodies: Vec<String> = server
        .requests()
        .into_iter()
        .map(|seen| seen.body)
        .collect();

    assert!(
        bodies.len() == 3 && bodies.iter().all(|body| *body == bodies[0]),
        "{bodies:?}"
    );
}

/// Error bodies of about `bytes` bytes, with the status of the response. Each of their fields and
/// wrappings was once parsed by itself.
fn long_errors(bytes: usize) -> Vec<(u16, String)> {
    let list = format!("[{}1]", "1,".repeat(bytes / 2));
    let wrapped = format!(r#"{{"error":{{"error":{{"error":{{"error":{list}}}}}}}}}"#);
    let escaped = format!(r#"{{"error":{{"message":"{}"}}}}"#, r"\\".repeat(bytes / 2));

    vec![
        (500, wrapped.clone()),
        (200, wrapped),
        (500, escaped.clone()),
        (200, escaped),
        (500, " ".repeat(bytes)),
    ]
}

#[test]
fn reading_a_long_error_takes_bounded_work() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let work = |(status, body): &(u16, String)| {
        let (_, work) = cogwork_read::measure(|| runtime.block_on(failure(*status, body)));
        work
    };

    for (short, long) in long_errors(60_000).iter().zip(&long_errors(4_000_000)) {
        assert_at_most_doubled(&long.1[..40], work(short), work(long));
    }
}

#[tokio::test]
async fn the_beginning_of_a_long_error_is_shown() {
    let body = format!(r#"{{"error":{{"message":"no{}"}}}}"#, " no".repeat(40_000));
    let error = failure(200, &body).await;

    assert_eq!(error.kind(), Kind::Server);
    assert!(
        error.to_string().contains(r#": {"message":"no no no"#),
        "{error}"
    );
}
