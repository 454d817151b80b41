//! Each failure that a server reports has its kind.

use std::time::{Duration, SystemTime};

use cogwork_llm::{LlmError, LlmErrorKind as Kind};

use crate::http::support::{Protocol, Server, answer, ask, ok, outcome, says};
use crate::table::check;

async fn failure(status: u16, body: &str) -> LlmError {
    outcome(answer(status, "", body)).await.unwrap_err()
}

#[tokio::test]
async fn every_status_has_its_kind() {
    for (statuses, kind, is_retryable) in [
        (
            &[400, 413, 418, 422, 501, 505][..],
            Kind::InvalidRequest,
            false,
        ),
        (&[401, 403], Kind::Authentication, false),
        (&[402], Kind::Quota, false),
        (&[408, 504], Kind::Timeout, true),
        (&[429], Kind::RateLimit, true),
        (&[500, 502, 520, 599], Kind::Server, true),
        (&[503, 529], Kind::Overloaded, true),
    ] {
        for status in statuses {
            let error = failure(*status, r#"{"error":{"message":"no"}}"#).await;
            assert_eq!((error.kind(), error.status()), (kind, Some(*status)));
            assert_eq!(error.is_retryable(), is_retryable);
            assert_eq!(
                format!("{error:#}"),
                format!("{kind}: no (status {status})\n{{\"error\":{{\"message\":\"no\"}}}}")
            );
        }
    }
}

#[tokio::test]
async fn a_wrong_address_is_named_but_not_for_a_model_that_the_server_lacks() {
    for (protocol, status, body, said) in [
        (
            Protocol::Chat,
            404,
            r#"{"detail":"Not Found."}"#,
            "chat/completions: Not Found; expected a base URL that ends before /chat/completions, often in /v1",
        ),
        (
            Protocol::Chat,
            405,
            "<html></html>",
            "chat/completions: the server responded 405 Method Not Allowed with an HTML page; expected a base URL that ends before /chat/completions, often in /v1",
        ),
        (
            Protocol::Responses,
            404,
            "404 page not found\n",
            "responses: 404 page not found; expected a base URL that ends before /responses, often in /v1",
        ),
        (
            Protocol::Messages,
            404,
            "",
            "messages: the server responded 404 Not Found with an empty body; expected a base URL that ends before /v1/messages",
        ),
        (
            Protocol::Chat,
            404,
            r#"{"error":{"message":"model 'm' not found"}}"#,
            "chat/completions: model 'm' not found",
        ),
    ] {
        let server = Server::start([answer(status, "", body)]).await;
        let error = ask(&protocol.client(&server)).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        assert_eq!(
            error.message(),
            format!("POST {}/{said}", server.base_url())
        );
    }
}

#[tokio::test]
async fn the_reason_is_found_in_every_shape() {
    let table = r#"
        {"error":{"message":"why","type":"t","code":"c","param":null}} => why
        {"error":{"message":"why","code":400}} => why
        {"error":{"error":{"message":"why"},"message":"wrapped"}} => why
        [{"error":{"code":400,"message":"why","status":"INVALID_ARGUMENT"}}] => why
        {"error":"why"} => why
        {"message":"why"} => why
        {"object":"error","message":"why","type":"BadRequestError","code":400} => why
        {"detail":"why"} => why
        {"detail":[{"loc":["body"],"msg":"why"}]} => [{"loc":["body"],"msg":"why"}]
        "why" => why
        {"oops":1} => {"oops":1}
        {"error":{"message":17}} => 17
        <html><title>400</title></html> => the server responded 400 Bad Request with an HTML page
        <?xml version="1.0"?><Error>why</Error> => <?xml version="1.0"?><Error>why</Error>
        why and where => why and where
    "#;
    check(table, async |body| {
        failure(400, body).await.message().to_owned()
    })
    .await;

    let empty = failure(400, "").await;
    assert_eq!(
        empty.message(),
        "the server responded 400 Bad Request with an empty body"
    );
}

#[tokio::test]
async fn codes_and_words_go_before_the_status() {
    let table = r#"
        429 {"error":{"message":"m","type":"insufficient_quota"}} => quota
        429 {"error":{"message":"m","code":"rate_limit_exceeded"}} => rate limit
        429 {"error":{"message":"the context window of this key is busy"}} => rate limit
        400 {"error":{"message":"m","code":"context_length_exceeded"}} => context length
        500 {"error":{"message":"m","type":"exceed_context_size_error","code":400}} => context length
        400 {"error":{"message":"This model's maximum context length is 8192 tokens."}} => context length
        422 {"message":"Prompt is too long: 9000 tokens"} => context length
        400 {"error":{"message":"the request exceeds the available context size"}} => context length
        400 {"error":{"message":"m","code":"content_filter"}} => content filter
        400 {"error":{"message":"m","type":"invalid_request_error"}} => invalid request
        400 {"error":{"message":"Your credit balance is too low to access the Anthropic API."}} => quota
        200 {"error":{"message":"m","code":429}} => rate limit
        200 {"error":{"message":"m","code":"503"},"choices":[]} => overloaded
        200 {"error":{"message":"m","type":"rate_limit_error"}} => rate limit
        200 {"error":{"message":"m","type":"overloaded_error"}} => overloaded
        200 {"error":{"message":"m","code":"invalid_api_key"}} => authentication
        200 {"error":{"message":"m","type":"invalid_request_error"}} => invalid request
        200 {"error":{"message":"m","code":"context_length_exceeded"}} => context length
        200 {"error":"m"} => server
        200 {"error":{"message":"m","code":"bad-code"}} => server
    "#;
    check(table, async |row| {
        let (status, body) = row.split_once(' ').unwrap();
        failure(status.parse().unwrap(), body)
            .await
            .kind()
            .to_string()
    })
    .await;
}

#[tokio::test]
async fn retry_after_is_read_in_every_form() {
    let date = |seconds: u64| {
        httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    };
    let ahead = format!(
        "date: {}\nretry-after: {}",
        date(9_000_000_030),
        date(9_000_000_037)
    );
    let cases = [
        ("", None),
        ("retry-after: 7", Some(7_000)),
        ("Retry-After:  0.25 ", Some(250)),
        ("retry-after: 0", Some(0)),
        ("retry-after-ms: 1500\nretry-after: 9", Some(1_500)),
        ("retry-after-ms: soon\nretry-after: 9", Some(9_000)),
        ("retry-after: Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
        // By the server's clock, whatever ours shows.
        (ahead.as_str(), Some(7_000)),
        ("retry-after: soon", None),
        ("retry-after: -1", None),
        ("retry-after: inf", None),
        ("retry-after: 1e300", None),
        ("retry-after: \u{e9}", None),
    ];
    for (headers, wait) in cases {
        let lines: String = headers.lines().map(|line| format!("{line}\r\n")).collect();
        let error = outcome(answer(429, &lines, "")).await.unwrap_err();
        assert_eq!(
            error.retry_after(),
            wait.map(Duration::from_millis),
            "{headers}"
        );
    }

    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
    let error = outcome(answer(429, &format!("retry-after: {date}\r\n"), ""))
        .await
        .unwrap_err();
    let range = Duration::from_secs(90)..=Duration::from_secs(100);
    assert!(range.contains(&error.retry_after().unwrap()), "{error}");
}

#[tokio::test]
async fn redirects_name_their_host_and_other_statuses_themselves() {
    let redirect = |host: &str| {
        format!(
            "the server redirects to {host}, and redirects are not followed; expected a base URL without redirects"
        )
    };
    for (status, location, said) in [
        (
            301,
            "location: https://elsewhere.example/v1?token=abc\r\n",
            redirect("elsewhere.example"),
        ),
        (
            302,
            "location: //elsewhere.example\r\n",
            redirect("elsewhere.example"),
        ),
        (307, "location: /other\r\n", redirect("127.0.0.1")),
        (308, "", redirect("an unnamed host")),
        (303, "location: http://[\r\n", redirect("an unnamed host")),
        (
            300,
            "",
            "the server responded 300 Multiple Choices with an empty body".to_owned(),
        ),
        (
            304,
            "",
            "the server responded 304 Not Modified with an empty body".to_owned(),
        ),
        (
            399,
            "",
            "the server responded 399 with an empty body".to_owned(),
        ),
    ] {
        let server = Server::start([answer(status, location, ""), says("followed")]).await;
        let error = ask(&server.client()).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (Kind::InvalidRequest, said.as_str())
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn long_and_hostile_bodies_are_cut_and_made_harmless() {
    for long in ["x".repeat(100_000), "é".repeat(1_000)] {
        let error = failure(500, &long).await;
        assert_eq!(error.body().unwrap().chars().count(), 500);
        assert!(error.body().unwrap().ends_with('…'));
        assert_eq!(error.message().chars().count(), 300);
    }

    let error = failure(500, "a\u{1b}[31mred\u{7}\u{202e}\u{0}\tb\r\nc").await;
    assert_eq!(
        error.message(),
        "a\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd} b c"
    );
    assert_eq!(
        error.body(),
        Some("a\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd}\tb\nc")
    );
}

/// Replies and errors of about `bytes` bytes.
fn long_bodies(bytes: usize) -> [(u16, String); 5] {
    let list = format!("[{}1]", "1,".repeat(bytes / 2));
    let wrapped = format!(r#"{{"error":{{"error":{{"error":{{"error":{list}}}}}}}}}"#);
    let escaped = format!(r#"{{"error":{{"message":"{}"}}}}"#, r"\\".repeat(bytes / 2));
    let parts = r#"{"text":"a"},"#.repeat(bytes / 13);
    let reply = format!(r#"{{"choices":[{{"message":{{"content":[{parts}"b"]}}}}]}}"#);
    let spaces = " ".repeat(bytes);

    [
        (500, wrapped.clone()),
        (200, wrapped),
        (200, escaped),
        (200, reply),
        (500, spaces),
    ]
}

#[test]
fn ten_times_the_body_is_at_most_ten_times_the_work() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let work = |(status, body): &(u16, String)| {
        let measured = allocation_counter::measure(|| {
            drop(runtime.block_on(outcome(answer(*status, "", body))));
        });
        measured.bytes_total
    };

    for (short, long) in long_bodies(100_000).iter().zip(&long_bodies(1_000_000)) {
        let (some, more) = (work(short), work(long));
        assert!(
            more < 15 * some,
            "{:.40}: {some} bytes allocated, then {more}",
            long.1
        );
    }
}

#[tokio::test]
async fn the_beginning_of_a_long_error_is_shown() {
    let body = format!(r#"{{"error":{{"message":"no{}"}}}}"#, " no".repeat(40_000));
    let error = outcome(ok(&body)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Server);
    assert!(error.message().starts_with("no no no") && error.message().ends_with('…'));
}
