//! Each failure that a server reports has its kind.

use std::time::{Duration, SystemTime};

use cogwork_llm::{LlmError, LlmErrorKind as Kind};

use crate::http::support::{Protocol, Server, allocated, answer, ask, ok, outcome, says};
use crate::table::check;

async fn failure(status: u16, body: &str) -> LlmError {
    outcome(answer(status, "", body)).await.unwrap_err()
}

#[tokio::test]
async fn every_status_has_its_kind() {
    let table = "
        400 | 413 | 418 | 422 | 501 | 505 => invalid request
        401 | 403 => authentication
        402 => quota
        408 | 504 => timeout, retryable
        429 => rate limit, retryable
        500 | 502 | 520 | 599 => server, retryable
        503 | 529 => overloaded, retryable
    ";
    check(table, async |status| {
        let body = r#"{"error":{"message":"no"}}"#;
        let error = failure(status.parse().unwrap(), body).await;
        let kind = error.kind();
        let shown = format!("{kind}: no (status {status})\n{body}");
        assert_eq!(format!("{error:#}"), shown);
        match error.is_retryable() {
            true => format!("{kind}, retryable"),
            false => kind.to_string(),
        }
    })
    .await;
}

#[tokio::test]
async fn a_wrong_address_is_named_but_not_for_a_model_that_the_server_lacks() {
    let table = r#"
        Chat 404 {"detail":"Not Found."} => chat/completions: Not Found; expected a base URL that ends before /chat/completions, often in /v1
        Chat 405 <html></html> => chat/completions: the server responded 405 Method Not Allowed without a reason; expected a base URL that ends before /chat/completions, often in /v1
        Responses 404 404 page not found => responses: 404 page not found; expected a base URL that ends before /responses, often in /v1
        Messages 404  => messages: the server responded 404 Not Found without a reason; expected a base URL that ends before /v1/messages
        Chat 404 {"error":{"message":"model 'm' not found"}} => chat/completions: model 'm' not found
        Chat 404 {"error":{"message":"No endpoints found that support tool use."}} => chat/completions: No endpoints found that support tool use.
    "#;
    check(table, async |row| {
        let [protocol, status, body] = row.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
        let server = Server::start([answer(status.parse().unwrap(), "", body)]).await;
        let client = Protocol::named(protocol).client(&server);
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        let address = format!("POST {}/", server.base_url());
        error.message().replace(&address, "")
    })
    .await;
}

#[tokio::test]
async fn the_reason_is_found_in_every_shape() {
    let table = r#"
        {"error":{"message":"why","type":"t","code":"c","param":null}} => why
        {"error":{"message":"why","code":400}} => why
        {"error":{"error":{"message":"why"},"message":"wrapped"}} => why
        [{"error":{"code":400,"message":"why","status":"INVALID_ARGUMENT"}}] => why
        {"error":"why"} | {"message":"why"} | {"detail":"why"} | "why" => why
        {"object":"error","message":"why","type":"BadRequestError","code":400} => why
        {"detail":[{"loc":["body"],"msg":"why"}]} => [{"loc":["body"],"msg":"why"}]
        {"oops":1} => {"oops":1}
        {"error":{"message":17}} => 17
        <html><title>400</title></html> => the server responded 400 Bad Request without a reason
        <?xml version="1.0"?><Error>why</Error> => <?xml version="1.0"?><Error>why</Error>
        why and where => why and where
    "#;
    check(table, async |body| {
        failure(400, body).await.message().to_owned()
    })
    .await;

    let empty = failure(400, "").await;
    let expected = "the server responded 400 Bad Request without a reason";
    assert_eq!(empty.message(), expected);
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
        let error = failure(status.parse().unwrap(), body).await;
        error.kind().to_string()
    })
    .await;
}

#[tokio::test]
async fn retry_after_is_read_in_every_form() {
    let table = "
        retry-after: 7 => 7000
        Retry-After:  0.25 => 250
        retry-after: 0 => 0
        retry-after-ms: 1500, retry-after: 9 => 1500
        retry-after-ms: soon, retry-after: 9 => 9000
        retry-after: Sun\u{b8} 06 Nov 1994 08:49:37 GMT => 0
        x: y => none
        retry-after: soon | retry-after: -1 | retry-after: inf => none
        retry-after: 1e300 | retry-after: é => none
    ";
    check(table, async |headers| {
        let headers = headers.replace(", ", "\r\n").replace('\u{b8}', ",") + "\r\n";
        let error = outcome(answer(429, &headers, "")).await.unwrap_err();
        let wait = error.retry_after().map(|wait| wait.as_millis().to_string());
        wait.unwrap_or("none".to_owned())
    })
    .await;

    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
    let limited = answer(429, &format!("retry-after: {date}\r\n"), "");
    let error = outcome(limited).await.unwrap_err();
    let range = Duration::from_secs(90)..=Duration::from_secs(100);
    assert!(range.contains(&error.retry_after().unwrap()), "{error}");
}

#[tokio::test]
async fn redirects_name_their_host_and_other_statuses_themselves() {
    let table = "
        301 location: https://elsewhere.example/v1?token=abc => to elsewhere.example
        302 location: //elsewhere.example => to elsewhere.example
        307 location: /other => to 127.0.0.1
        300 x: y => the server responded 300 Multiple Choices without a reason
        304 x: y => the server responded 304 Not Modified without a reason
    ";
    check(table, async |row| {
        let (status, header) = row.split_once(' ').unwrap();
        let away = answer(status.parse().unwrap(), &format!("{header}\r\n"), "");
        let server = Server::start([away, says("followed")]).await;
        let error = ask(&server.client()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        assert_eq!(server.requests().len(), 1);

        let end = ", and redirects are not followed; expected a base URL without redirects";
        let told = error.message().trim_start_matches("the server redirects ");
        told.trim_end_matches(end).to_owned()
    })
    .await;
}

#[tokio::test]
async fn long_and_hostile_bodies_are_cut_and_made_harmless() {
    for long in ["x".repeat(100_000), "é".repeat(1_000)] {
        let error = failure(500, &long).await;
        assert_eq!(error.body().unwrap().chars().count(), 500);
        assert!(error.body().unwrap().ends_with('…'));
        assert_eq!(error.message().chars().count(), 500);
    }

    let error = failure(500, "a\u{1b}[31mred\u{7}\u{202e}\u{0}\tb\r\nc").await;
    let harmless = "a\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd}";
    assert_eq!(error.message(), format!("{harmless} b c"));
    assert_eq!(error.body(), Some(&*format!("{harmless}\tb\nc")));

    let body = format!(r#"{{"error":{{"message":"no{}"}}}}"#, " no".repeat(40_000));
    let error = outcome(ok(&body)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Server);
    assert!(error.message().starts_with("no no no") && error.message().ends_with('…'));
}

/// Replies and errors of about `bytes` bytes.
fn long_bodies(bytes: usize) -> [(u16, String); 4] {
    let list = format!("[{}1]", "1,".repeat(bytes / 2));
    let wrapped = format!(r#"{{"error":{{"error":{{"error":{{"error":{list}}}}}}}}}"#);
    let escaped = format!(r#"{{"error":{{"message":"{}"}}}}"#, r"\\".repeat(bytes / 2));
    let parts = r#"{"text":"a"},"#.repeat(bytes / 13);
    let reply = format!(r#"{{"choices":[{{"message":{{"content":[{parts}"b"]}}}}]}}"#);
    [
        (500, wrapped),
        (200, escaped),
        (200, reply),
        (500, " ".repeat(bytes)),
    ]
}

#[test]
fn ten_times_the_body_is_at_most_ten_times_the_work() {
    let work = |(status, body): &(u16, String)| allocated(outcome(answer(*status, "", body)));
    for (short, long) in long_bodies(100_000).iter().zip(&long_bodies(1_000_000)) {
        let (some, more) = (work(short), work(long));
        assert!(
            more < 15 * some,
            "{:.40}: {some} bytes, then {more}",
            long.1
        );
    }
}
