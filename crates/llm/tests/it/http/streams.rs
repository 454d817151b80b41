//! Replies in pieces: recorded ones of each kind of server, and everything that can go wrong in one.

use std::time::Duration;

use cogwork_llm::{
    AnthropicClient, ChatResponse, Delta, FinishReason, LlmClient, LlmError, LlmErrorKind as Kind,
    OllamaClient, OpenAiClient, Usage,
};

use proptest::prelude::*;

use crate::http::support::{Answer, Server, answer, ask, follow, ok, says, streamed};

const OPENAI: &str = include_str!("fixtures/openai.sse");

/// A recorded stream, the answer to the same call without one, and a client that can read both.
type Recorded = (
    &'static str,
    &'static str,
    fn(&Server) -> Box<dyn LlmClient>,
);

fn recorded() -> [Recorded; 8] {
    fn openai(server: &Server) -> Box<dyn LlmClient> {
        Box::new(server.client())
    }

    fn anthropic(server: &Server) -> Box<dyn LlmClient> {
        Box::new(
            AnthropicClient::builder(server.origin(), "m")
                .build()
                .unwrap(),
        )
    }

    fn ollama(server: &Server) -> Box<dyn LlmClient> {
        Box::new(OllamaClient::builder(server.origin(), "m").build().unwrap())
    }

    [
        (OPENAI, include_str!("fixtures/openai.json"), openai),
        (
            include_str!("fixtures/openrouter.sse"),
            include_str!("fixtures/openrouter.json"),
            openai,
        ),
        (
            include_str!("fixtures/llama_cpp.sse"),
            include_str!("fixtures/llama_cpp.json"),
            openai,
        ),
        (
            include_str!("fixtures/openai_tools.sse"),
            include_str!("fixtures/openai_tools.json"),
            openai,
        ),
        (
            include_str!("fixtures/anthropic.sse"),
            include_str!("fixtures/anthropic.json"),
            anthropic,
        ),
        (
            include_str!("fixtures/anthropic_tools.sse"),
            include_str!("fixtures/anthropic_tools.json"),
            anthropic,
        ),
        (
            include_str!("fixtures/ollama.ndjson"),
            include_str!("fixtures/ollama.json"),
            ollama,
        ),
        (
            include_str!("fixtures/ollama_tools.ndjson"),
            include_str!("fixtures/ollama_tools.json"),
            ollama,
        ),
    ]
}

fn text(texts: &[&str]) -> Vec<Delta> {
    texts
        .iter()
        .map(|text| Delta::Text((*text).to_owned()))
        .collect()
}

async fn stream_of(answer: Answer) -> (Vec<Delta>, Result<ChatResponse, LlmError>) {
    let server = Server::start([answer]).await;
    follow(&server.client()).await
}

async fn events(body: &str) -> (Vec<Delta>, Result<ChatResponse, LlmError>) {
    stream_of(Answer::Raw(streamed(body))).await
}

#[tokio::test]
async fn a_streamed_reply_equals_the_same_reply_whole() {
    for (stream, whole, client) in recorded() {
        let server = Server::start([Answer::Raw(streamed(stream)), ok(whole)]).await;
        let client = client(&server);
        let (deltas, streamed) = follow(&client).await;
        assert_eq!(streamed.unwrap(), ask(&client).await.unwrap());
        assert!(deltas.len() > 1, "{deltas:?}");
    }
}

#[tokio::test]
async fn the_deltas_of_a_reply_come_as_they_were_sent() {
    let (deltas, response) = events(OPENAI).await;
    assert_eq!(deltas, text(&["Grüß", " dich 🤔", "!\n"]));
    assert_eq!(
        response.unwrap(),
        ChatResponse::new("Grüß dich 🤔!\n")
            .with_usage(Usage::new(19, 10).with_cached_tokens(8))
            .with_model("gpt-4.1-mini-2025-04-14")
            .with_id("chatcmpl-B7q2")
    );

    let (deltas, response) = events(include_str!("fixtures/openrouter.sse")).await;
    assert_eq!(
        deltas[..2],
        ["Two and ", "two."].map(|text| Delta::Reasoning(text.to_owned()))
    );
    assert_eq!(deltas[2..], text(&["Four."]));
    let response = response.unwrap();

    assert_eq!(
        (response.reasoning(), response.finish_reason()),
        (Some("Two and two."), &FinishReason::Length)
    );
    assert_eq!(response.usage().unwrap().reasoning_tokens, 6);
}

#[tokio::test]
async fn where_the_network_cuts_the_bytes_does_not_matter() {
    for (stream, whole, client) in recorded() {
        for size in [13, 101] {
            let raw = streamed(stream);
            let pieces = raw.chunks(size).map(<[u8]>::to_vec).collect();
            let server = Server::start([Answer::Pieces(Duration::ZERO, pieces), ok(whole)]).await;
            let client = client(&server);

            assert_eq!(
                follow(&client).await.1.unwrap(),
                ask(&client).await.unwrap(),
                "{size}"
            );
        }
    }
}

#[tokio::test]
async fn a_delta_is_given_before_the_next_one_is_sent() {
    let (first, rest) = OPENAI.split_at(OPENAI.find(" dich").unwrap());
    let server = Server::start([Answer::Pieces(
        Duration::from_secs(20),
        vec![streamed(first), rest.into()],
    )])
    .await;

    let mut reply = server
        .client()
        .stream(cogwork_llm::ChatRequest::default())
        .await
        .unwrap();

    let delta = tokio::time::timeout(Duration::from_secs(10), reply.next())
        .await
        .unwrap();
    assert_eq!(delta.unwrap().unwrap(), Delta::Text("Grüß".to_owned()));
}

#[tokio::test]
async fn a_stream_cut_anywhere_is_interrupted_and_keeps_the_text_so_far() {
    for (stream, whole, client) in recorded() {
        let server = Server::start([ok(whole)]).await;
        let complete = ask(&client(&server)).await.unwrap();

        // Servers end a reply with a finish reason, the usage after it, a mark after that; what is
        // between the first and the last isn't a reason to throw a whole reply away.
        let end = ["\"finish_reason\":\"", "message_stop", "\"done_reason\""];
        let end = end.iter().find_map(|mark| stream.find(mark)).unwrap();
        for cut in (0..end).step_by(97) {
            let part = String::from_utf8_lossy(&stream.as_bytes()[..cut]);
            let server = Server::start([Answer::Raw(streamed(&part))]).await;
            let (_, response) = follow(&client(&server)).await;
            let error = response.unwrap_err();

            assert_eq!(error.kind(), Kind::InterruptedStream, "{cut}: {error:#}");
            assert!(complete.text().starts_with(error.text_so_far().unwrap()));
            assert_eq!(
                error.to_string(),
                "interrupted stream: the reply broke off: the stream ended without its end marker (status 200)"
            );
        }
    }
}

#[tokio::test]
async fn a_stream_without_its_last_mark_is_whole_after_a_finish_reason() {
    let without = OPENAI.replace("data: [DONE]\n\n", "");
    assert_eq!(
        events(&without).await.1.unwrap(),
        events(OPENAI).await.1.unwrap()
    );

    // Nor is the last empty line needed, or the last line end.
    for cut in [1, 2] {
        assert_eq!(
            events(&OPENAI[..OPENAI.len() - cut]).await.1.unwrap(),
            events(OPENAI).await.1.unwrap()
        );
    }
}

#[tokio::test]
async fn an_end_without_a_finish_reason_is_an_end_of_the_usual_kind() {
    let (_, response) =
        events("data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n").await;
    assert_eq!(response.unwrap(), ChatResponse::new("Hi"));
}

#[tokio::test]
async fn a_server_that_holds_the_connection_open_after_the_end_is_not_waited_for() {
    let (_, response) = stream_of(Answer::Stall(streamed(OPENAI))).await;
    assert_eq!(response.unwrap().text(), "Grüß dich 🤔!\n");
}

#[tokio::test]
async fn lenient_in_what_a_chunk_may_be() {
    let body = "\u{feff}event: message\r\nid: 7\r\nretry: 10\r\ndata: {\"choices\":[{\"delta\":{\"content\":\r\ndata: \"a\"}}]}\r\n\r\n\
        data:{\"choices\":null,\"usage\":{\"prompt_tokens\":1}}\r\n\r\n: keep-alive\r\n\r\n\
        data: {\"error\":null,\"choices\":[{\"index\":1,\"delta\":{\"content\":\"another choice\"}}]}\r\n\r\n\
        data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"b\"}]}}],\"x\":[1]}\r\n\r\n\
        data: {\"choices\":[{\"text\":\"c\",\"finish_reason\":\"vibes\"}]}\r\n\r\ndata: [DONE]\r\n\r\n";

    let (deltas, response) = events(body).await;
    assert_eq!(deltas, text(&["a", "b", "c"]));
    let response = response.unwrap();
    assert_eq!(
        response.finish_reason(),
        &FinishReason::Other("vibes".to_owned())
    );
    assert_eq!(response.usage(), Some(Usage::new(1, 0)));
}

#[tokio::test]
async fn an_error_event_is_an_error_of_its_kind_with_the_text_so_far() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"Half a \"}}]}\n\n";
    for (event, kind, message) in [
        (
            "data: {\"error\":{\"message\":\"m\",\"code\":429}}\n\n",
            Kind::RateLimit,
            "m",
        ),
        (
            "data: {\"error\":{\"message\":\"m\",\"type\":\"overloaded_error\"}}\n\n",
            Kind::Overloaded,
            "m",
        ),
        (
            "data: {\"error\":\"out of memory\",\"choices\":[]}\n\n",
            Kind::Server,
            "out of memory",
        ),
        (
            "event: error\ndata: {\"message\":\"m\",\"code\":\"503\"}\n\n",
            Kind::Overloaded,
            "m",
        ),
    ] {
        let (deltas, response) = events(&format!("{begun}{event}data: [DONE]\n\n")).await;
        assert_eq!(deltas, text(&["Half a "]));
        let error = response.unwrap_err();
        assert_eq!(error.to_string(), format!("{kind}: {message} (status 200)"));
        assert_eq!(error.text_so_far(), Some("Half a "));
        assert!(error.body().unwrap().contains(message));
    }
}

#[tokio::test]
async fn a_refusal_in_pieces_is_a_refusal() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":null,\"refusal\":\"I can\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"refusal\":\"not.\"},\"finish_reason\":\"stop\"}]}\n\n";
    for end in ["data: [DONE]\n\n", ""] {
        let error = events(&format!("{body}{end}")).await.1.unwrap_err();
        assert_eq!(
            error.to_string(),
            "content filter: the model refused: I cannot. (status 200)"
        );
    }
}

#[tokio::test]
async fn an_event_that_is_no_json_is_a_decode_error_with_its_text() {
    let error = events("data: oops\n\ndata: [DONE]\n\n")
        .await
        .1
        .unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "decode: the response is not JSON: expected value at line 1 column 1 (status 200)\noops"
    );
}

#[tokio::test]
async fn a_whole_reply_where_a_stream_was_asked_for_is_taken() {
    let (deltas, response) = stream_of(says("All at once.")).await;
    assert_eq!(deltas, text(&["All at once."]));
    assert_eq!(response.unwrap().text(), "All at once.");
    let error = stream_of(ok(r#"{"error":{"message":"m","code":429}}"#))
        .await
        .1
        .unwrap_err();

    assert_eq!(error.to_string(), "rate limit: m (status 200)");
    let error = stream_of(ok("<html><title>Log in</title></html>"))
        .await
        .1
        .unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "decode: the response is an HTML page; expected JSON (status 200)\nan HTML page titled \"Log in\""
    );
}

#[tokio::test]
async fn a_failure_before_the_stream_is_the_failure_of_the_call() {
    let server = Server::start([answer(
        429,
        "retry-after: 2\r\nx-request-id: req_7\r\n",
        r#"{"error":"slow"}"#,
    )])
    .await;

    let error = server
        .client()
        .stream(cogwork_llm::ChatRequest::default())
        .await
        .unwrap_err();

    assert_eq!(
        error.to_string(),
        "rate limit: slow (status 429, retry after 2s, request req_7)"
    );
}

#[tokio::test]
async fn request_ids_are_kept() {
    let head = "HTTP/1.1 200 OK\r\nx-request-id: req_1\r\nconnection: close\r\n\r\n";
    let (_, response) = stream_of(Answer::Raw(format!("{head}{OPENAI}").into_bytes())).await;
    assert_eq!(response.unwrap().request_id(), Some("req_1"));
    let (_, response) = stream_of(Answer::Raw(format!("{head}data: oops\n\n").into_bytes())).await;

    assert_eq!(response.unwrap_err().request_id(), Some("req_1"));
}

#[tokio::test]
async fn a_reset_in_a_stream_interrupts_it() {
    let part = &OPENAI[..OPENAI.find("!\\n").unwrap()];
    let server = Server::start([Answer::Reset(streamed(part))]).await;
    let (deltas, response) = follow(&server.client()).await;
    assert_eq!(deltas, text(&["Grüß", " dich 🤔"]));

    let error = response.unwrap_err();
    assert_eq!(
        (error.kind(), error.text_so_far()),
        (Kind::InterruptedStream, Some("Grüß dich 🤔"))
    );
    let start = format!(
        "interrupted stream: POST {}/chat/completions: the reply broke off: Connection reset",
        server.base_url()
    );
    assert!(error.to_string().starts_with(&start), "{error}");
}

#[tokio::test]
async fn a_chunk_shorter_than_its_length_interrupts_a_stream() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n";
    let part = &OPENAI[..OPENAI.find("!\\n").unwrap()];
    let error = stream_of(Answer::Raw(format!("{head}{part}").into_bytes()))
        .await
        .1
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.text_so_far()),
        (Kind::InterruptedStream, Some("Grüß dich 🤔"))
    );
}

#[tokio::test]
async fn a_stream_that_stalls_is_out_of_time_with_the_text_so_far() {
    let part = &OPENAI[..OPENAI.find("!\\n").unwrap()];
    let server = Server::start([Answer::Stall(streamed(part))]).await;
    let short = Duration::from_millis(300);
    let client = OpenAiClient::builder(server.base_url(), "m")
        .with_timeout(short)
        .build()
        .unwrap();
    let error = follow(&client).await.1.unwrap_err();

    assert_eq!(
        (error.kind(), error.text_so_far()),
        (Kind::Timeout, Some("Grüß dich 🤔"))
    );
}

#[tokio::test]
async fn streams_without_end_stop_at_the_limits() {
    let limited = |server: &Server| {
        OpenAiClient::builder(server.base_url(), "m")
            .with_max_response_bytes(2_000_000)
            .build()
            .unwrap()
    };
    for (start, more, complaint) in [
        (
            "data: ",
            "x".to_owned(),
            "an event of the stream is over the limit of 1048576 bytes",
        ),
        (
            "",
            "data: x\n".to_owned(),
            "an event of the stream is over the limit of 1048576 bytes",
        ),
        (
            "\n",
            format!(
                "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
                "y".repeat(1000)
            ),
            "the response is over the limit of 2000000 bytes",
        ),
        (
            "{",
            "x".to_owned(),
            "the response is over the limit of 2000000 bytes",
        ),
    ] {
        let server = Server::start([Answer::Endless(start, more)]).await;
        let error = follow(&limited(&server)).await.1.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("decode: {complaint} (status 200)")
        );
    }
}

#[tokio::test]
async fn comments_without_end_end_with_the_timeout() {
    let server = Server::start([Answer::Endless("", ": still here\n\n".to_owned())]).await;
    let short = Duration::from_millis(300);
    let client = OpenAiClient::builder(server.base_url(), "m")
        .with_timeout(short)
        .build()
        .unwrap();
    assert_eq!(follow(&client).await.1.unwrap_err().kind(), Kind::Timeout);
}

#[tokio::test]
async fn a_dropped_stream_leaves_the_client_ready() {
    let server = Server::start([Answer::Stall(streamed(&OPENAI[..900])), says("Hi.")]).await;
    let client = server.client();
    let mut reply = client
        .stream(cogwork_llm::ChatRequest::default())
        .await
        .unwrap();
    assert!(reply.next().await.unwrap().is_ok());
    drop(reply);
    assert_eq!(ask(&client).await.unwrap().text(), "Hi.");
}

#[tokio::test]
async fn a_stream_is_asked_for_with_usage_unless_the_settings_say_otherwise() {
    let server = Server::start([says("1"), says("2"), says("3")]).await;
    let builder = || OpenAiClient::builder(server.base_url(), "m");
    follow(&builder().build().unwrap()).await.1.unwrap();
    follow(&builder().with_extra("stream_options", ()).build().unwrap())
        .await
        .1
        .unwrap();
    ask(&builder()
        .with_extra(
            "stream_options",
            [("include_usage", true)]
                .into_iter()
                .collect::<std::collections::BTreeMap<_, _>>(),
        )
        .build()
        .unwrap())
    .await
    .unwrap();

    let bodies: Vec<String> = server
        .requests()
        .into_iter()
        .map(|seen| seen.body)
        .collect();

    insta::assert_snapshot!(bodies.join("\n"), @r#"
    {"model":"m","messages":[{"role":"user","content":"Hello"}],"stream":true,"stream_options":{"include_usage":true}}
    {"model":"m","messages":[{"role":"user","content":"Hello"}],"stream":true}
    {"model":"m","messages":[{"role":"user","content":"Hello"}]}
    "#);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn any_cut_of_a_stream_gives_the_same_deltas(
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        which in 0..recorded().len(),
    ) {
        let (stream, _, client) = recorded()[which];
        let raw = streamed(stream);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(raw.len())).chain([0, raw.len()]).collect();
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| raw[cut[0]..cut[1]].to_vec()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (cut, whole) = runtime.block_on(async {
            // A pause, so that the pieces arrive one by one.
            let cut = Answer::Pieces(Duration::from_millis(1), pieces);
            let server = Server::start([cut, Answer::Raw(raw.clone())]).await;
            let client = client(&server);
            (follow(&client).await, follow(&client).await)
        });
        prop_assert_eq!(cut.0, whole.0);
        prop_assert_eq!(cut.1.unwrap(), whole.1.unwrap());
    }

    #[test]
    fn a_damaged_stream_gives_a_reply_or_an_error_that_holds_a_beginning(
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, "[\\x00-\\x7f\"{}\\[\\]:,\n]{0,6}"), 1..6),
        which in 0..recorded().len(),
    ) {
        let (stream, _, client) = recorded()[which];
        let mut bytes = stream.as_bytes().to_vec();
        for (place, removed, put) in damages {
            let place = place.index(bytes.len());
            let end = (place + removed).min(bytes.len());
            bytes.splice(place..end, put.bytes());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (deltas, outcome) = runtime.block_on(async {
            let server = Server::start([Answer::Raw([streamed("").as_slice(), &bytes].concat())]).await;
            follow(&client(&server)).await
        });
        let (mut seen, mut calls) = (String::new(), Vec::new());
        for delta in deltas {
            match delta {
                Delta::Text(text) => seen += &text,
                Delta::ToolCall(call) => calls.push(call),
                _ => {}
            }
        }
        match outcome {
            Ok(response) => {
                prop_assert_eq!(response.text(), seen);
                prop_assert_eq!(response.tool_calls(), calls);
            }
            Err(error) => prop_assert_eq!(error.text_so_far().unwrap_or_default(), seen),
        }
    }
}
