//! The faults of servers and networks, for every client, whole and streamed: the mechanism is one, and
//! each protocol must have let it do its work.

use std::time::Duration;

use cogwork_llm::{
    AnthropicClient, Backoff, ChatResponse, LlmClient, LlmError, LlmErrorKind as Kind,
    OllamaClient, OpenAiClient, Retry,
};
use futures_util::future::{join, join_all};

use crate::http::support::{Answer, Server, answer, ask, bytes, follow, ok, streamed};

const LIMIT: usize = 100_000;

type Fixture = (
    fn(&Server) -> Box<dyn LlmClient>,
    &'static str,
    &'static str,
);

/// Each client, and the beginning and the whole of a stream that it reads.
fn everyone() -> [Fixture; 3] {
    fn short<C>(builder: cogwork_llm::HttpClientBuilder<C>) -> C {
        builder
            .with_timeout(Duration::from_millis(300))
            .with_max_response_bytes(LIMIT)
            .build()
            .unwrap()
    }

    [
        (
            |server| Box::new(short(OpenAiClient::builder(server.base_url(), "m"))),
            include_str!("fixtures/llama_cpp.sse"),
            include_str!("fixtures/llama_cpp.json"),
        ),
        (
            |server| Box::new(short(AnthropicClient::builder(server.origin(), "m"))),
            include_str!("fixtures/anthropic.sse"),
            include_str!("fixtures/anthropic.json"),
        ),
        (
            |server| Box::new(short(OllamaClient::builder(server.origin(), "m"))),
            include_str!("fixtures/ollama.ndjson"),
            include_str!("fixtures/ollama.json"),
        ),
    ]
}

/// What every client makes of this answer, whole and streamed.
async fn outcomes(answer: Answer) -> Vec<Result<ChatResponse, LlmError>> {
    let all = everyone().map(async |(client, _, _)| {
        let server = Server::start([answer.clone(), answer.clone()]).await;
        let client = client(&server);
        let (whole, (_, streamed)) = join(ask(&client), follow(&client)).await;
        [whole, streamed]
    });

    join_all(all).await.into_iter().flatten().collect()
}

async fn kinds(answer: Answer) -> Vec<Kind> {
    outcomes(answer)
        .await
        .into_iter()
        .map(|outcome| outcome.unwrap_err().kind())
        .collect()
}

#[tokio::test]
async fn silence_is_a_timeout() {
    let late = Answer::Late(Duration::from_secs(30), Vec::new());
    assert_eq!(kinds(late).await, [Kind::Timeout; 6]);
}

#[tokio::test]
async fn a_connection_that_ends_or_breaks_before_the_answer_is_a_transport_error() {
    assert_eq!(kinds(Answer::Raw(Vec::new())).await, [Kind::Transport; 6]);
    assert_eq!(kinds(Answer::Reset(Vec::new())).await, [Kind::Transport; 6]);
}

#[tokio::test]
async fn half_an_answer_is_never_a_reply() {
    for (client, stream, whole) in everyone() {
        let half = &whole[..whole.len() / 2];
        let part = String::from_utf8_lossy(&stream.as_bytes()[..stream.len() * 2 / 3]).into_owned();
        for broken in [
            (
                Answer::Raw(bytes(200, "", half, 9999)),
                Answer::Raw(bytes(200, "", &part, 99_999)),
            ),
            (
                Answer::Reset(bytes(200, "", half, 9999)),
                Answer::Reset(streamed(&part)),
            ),
        ] {
            let server = Server::start([broken.0, broken.1]).await;
            let client = client(&server);
            assert_eq!(ask(&client).await.unwrap_err().kind(), Kind::Transport);
            let error = follow(&client).await.1.unwrap_err();

            assert_eq!(error.kind(), Kind::InterruptedStream, "{error:#}");
            assert!(error.text_so_far().is_some() && error.is_retryable());
        }
    }
}

#[tokio::test]
async fn an_html_page_is_not_taken_for_a_reply() {
    for outcome in outcomes(ok("<html><title>502 Bad Gateway</title></html>")).await {
        assert_eq!(
            format!("{:#}", outcome.unwrap_err()),
            "decode: the response is an HTML page; expected JSON (status 200)\nan HTML page titled \"502 Bad Gateway\""
        );
    }
}

#[tokio::test]
async fn an_answer_without_end_stops_at_the_limit() {
    for start in ["{\"choices\":[\"", "<html>", "data: ", "x"] {
        for outcome in outcomes(Answer::Endless(start, "x".to_owned())).await {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), Kind::Decode);
            assert!(
                error.to_string().contains("over the limit of 100000 bytes"),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let away = answer(307, "location: https://elsewhere.example/\r\n", "");
    for outcome in outcomes(away).await {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        assert!(
            error.to_string().contains("redirects to elsewhere.example"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_retry_around_waits_as_asked_and_then_has_the_reply() {
    for (client, stream, whole) in everyone() {
        let fails = || {
            [
                answer(429, "retry-after-ms: 40\r\n", ""),
                answer(500, "", "<html></html>"),
            ]
        };

        let answers = fails().into_iter().chain([ok(whole)]).chain(fails());
        let server = Server::start(answers.chain([Answer::Raw(streamed(stream))])).await;
        let client = Retry::new(
            client(&server),
            Backoff::of::<3>().with_first(Duration::from_millis(1)),
        );
        let started = std::time::Instant::now();
        let response = ask(&client).await.unwrap();

        assert_eq!(follow(&client).await.1.unwrap(), response);
        assert!(started.elapsed() >= Duration::from_millis(80));
        let bodies: Vec<String> = server
            .requests()
            .into_iter()
            .map(|seen| seen.body)
            .collect();

        assert!(
            bodies[..3].iter().all(|body| *body == bodies[0]),
            "{bodies:?}"
        );
        assert!(
            bodies[3..].len() == 3 && bodies[3..].iter().all(|body| *body == bodies[3]),
            "{bodies:?}"
        );
    }
}
