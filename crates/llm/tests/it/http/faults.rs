//! Connections that break, stall, lie or never end: for every protocol, complete and streamed.

use std::time::Duration;

use cogwork_llm::{ChatResponse, LlmClient, LlmError, LlmErrorKind as Kind, OpenAiClient};
use futures_util::future::{join, join_all};
use tokio::net::TcpListener;

use crate::http::support::{
    Answer, Protocol, Server, Settings, answer, ask, bytes, follow, hello, ok, outcome, says,
    streamed,
};

/// Long enough for a loaded machine to answer, short enough to wait for.
const SHORT: Duration = Duration::from_millis(300);

fn limited(protocol: Protocol, server: &Server) -> Box<dyn LlmClient> {
    let settings = Settings::limits(SHORT, 100_000);
    protocol.client_with(&server.origin(), &settings)
}

/// What every client makes of this answer, complete and streamed.
async fn outcomes(answer: Answer) -> Vec<Result<ChatResponse, LlmError>> {
    let all = Protocol::ALL.map(async |protocol| {
        let server = Server::start([answer.clone(), answer.clone()]).await;
        let settings = Settings::limits(SHORT * 10, 100_000);
        let client = protocol.client_with(&server.origin(), &settings);
        let (whole, (_, streamed)) = join(ask(&client), follow(&client)).await;
        [whole, streamed]
    });

    join_all(all).await.into_iter().flatten().collect()
}

#[tokio::test]
async fn answers_that_never_come_have_their_kinds() {
    for (answer, kind) in [
        (Answer::Stall(Vec::new()), Kind::Timeout),
        (Answer::Raw(Vec::new()), Kind::Transport),
        (Answer::Reset(Vec::new()), Kind::Transport),
        (
            Answer::Raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n".to_vec()),
            Kind::Transport,
        ),
    ] {
        for outcome in outcomes(answer).await {
            let error = outcome.unwrap_err();
            assert_eq!((error.kind(), error.status()), (kind, None), "{error}");
            assert!(error.is_retryable());
        }
    }
}

#[tokio::test]
async fn half_an_answer_is_never_a_reply() {
    for protocol in Protocol::ALL {
        let (stream, whole) = (protocol.stream(), protocol.whole());
        let half = &whole[..whole.len() / 2];
        let part = String::from_utf8_lossy(&stream.as_bytes()[..stream.len() * 2 / 3]);
        let [lied, reset] = [Answer::Raw, Answer::Reset].map(|end| end(bytes(200, "", half, 9999)));
        let broken = Answer::Reset(streamed(&part));
        let server = Server::start([lied, reset, broken]).await;

        let client = protocol.client(&server);
        for _ in 0..2 {
            let error = ask(&client).await.unwrap_err();
            assert_eq!((error.kind(), error.status()), (Kind::Transport, Some(200)));
            assert!(error.body().unwrap().starts_with('{'));
        }
        let error = follow(&client).await.1.unwrap_err();
        assert_eq!(error.kind(), Kind::InterruptedStream, "{error:#}");
        assert!(error.text_so_far().is_some() && error.is_retryable());
    }
}

#[tokio::test]
async fn an_answer_without_end_stops_at_the_limit() {
    for start in ["{\"choices\":[\"", "<html>", "data: ", "x"] {
        for outcome in outcomes(Answer::Endless(start, "x".to_owned())).await {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), Kind::Decode);
            let expected = "over the limit of 100000 bytes";
            assert!(error.message().ends_with(expected), "{error}");
        }
    }

    let body = r#"{"choices":[{"message":{"content":"a"}}]}"#;
    for (max_bytes, is_read) in [(body.len(), true), (body.len() - 1, false)] {
        let server = Server::start([ok(body)]).await;
        let settings = Settings::limits(SHORT, max_bytes);
        let client = Protocol::Chat.client_with(&server.origin(), &settings);
        assert_eq!(ask(&client).await.is_ok(), is_read);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_a_page_is_no_reply() {
    let away = answer(307, "location: https://elsewhere.example/\r\n", "");
    for outcome in outcomes(away).await {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        let expected = "redirects to elsewhere.example";
        assert!(error.message().contains(expected), "{error}");
    }

    for outcome in outcomes(ok("<html><title>502 Bad Gateway</title></html>")).await {
        let expected = "decode: the response is an HTML page; expected JSON (status 200)";
        assert_eq!(outcome.unwrap_err().to_string(), expected);
    }
}

#[tokio::test]
async fn broken_connections_say_where_and_why() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = OpenAiClient::builder(&closed, "m").build().unwrap();
    let text = ask(&client).await.unwrap_err().to_string();
    let start =
        format!("transport: POST {closed}/chat/completions: no connection: Connection refused");
    assert!(text.starts_with(&start), "{text}");

    let half = bytes(200, "", "{\"choices\": [", 100);
    let mut told = Vec::new();
    for answer in [
        Answer::Raw(Vec::new()),
        Answer::Raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n".to_vec()),
        Answer::Raw(half.clone()),
        Answer::Stall(half),
        Answer::Raw(bytes(503, "retry-after: 3\r\n", "too bu", 100)),
    ] {
        let server = Server::start([answer]).await;
        let error = ask(&limited(Protocol::Chat, &server)).await.unwrap_err();
        told.push(error.to_string().replace(&server.base_url(), "BASE"));
    }
    insta::assert_snapshot!(told.join("\n"), @"
    transport: POST BASE/chat/completions: the connection was lost: connection closed before message completed
    transport: POST BASE/chat/completions: the connection was lost: invalid HTTP version parsed
    transport: POST BASE/chat/completions: the connection was lost: end of file before message length reached (status 200)
    timeout: POST BASE/chat/completions: no complete response within 300ms (status 200)
    overloaded: too bu (status 503, retry after 3s)
    ");

    let endless = bytes(500, "", &"y".repeat(10_000_000), 20_000_000);
    let error = outcome(Answer::Raw(endless)).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (Kind::Server, Some(500)));
}

#[tokio::test]
async fn a_dropped_call_or_stream_leaves_the_client_ready() {
    let begun = streamed(&Protocol::Chat.stream()[..900]);
    let answers = [Answer::Stall(Vec::new()), Answer::Stall(begun), says("Hi.")];
    let server = Server::start(answers).await;
    let client = server.client();
    let dropped = tokio::time::timeout(Duration::from_millis(50), ask(&client));
    assert!(dropped.await.is_err());

    let mut reply = client.stream(hello()).await.unwrap();
    assert!(reply.next().await.unwrap().is_ok());
    drop(reply);
    assert_eq!(ask(&client).await.unwrap().text(), "Hi.");
}
