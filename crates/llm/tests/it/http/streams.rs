//! Replies in pieces: recorded ones of each kind of server, and everything that can go wrong in one.

use std::time::Duration;

use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind as Kind, Usage,
};
use proptest::prelude::*;

use crate::http::support::{
    Answer, Protocol, Server, Settings, answer, ask, follow, ok, says, streamed, told,
};

const OPENAI: &str = include_str!("fixtures/openai.sse");

/// Recorded streams, and the responses to the same requests without streaming.
fn recorded() -> Vec<(Protocol, &'static str, &'static str)> {
    let more = [
        (Protocol::Chat, OPENAI, include_str!("fixtures/openai.json")),
        (
            Protocol::Chat,
            include_str!("fixtures/openrouter.sse"),
            include_str!("fixtures/openrouter.json"),
        ),
        (
            Protocol::Chat,
            include_str!("fixtures/openai_tools.sse"),
            include_str!("fixtures/openai_tools.json"),
        ),
        (
            Protocol::Responses,
            include_str!("fixtures/responses_tools.sse"),
            include_str!("fixtures/responses_tools.json"),
        ),
        (
            Protocol::Messages,
            include_str!("fixtures/anthropic_tools.sse"),
            include_str!("fixtures/anthropic_tools.json"),
        ),
        (
            Protocol::Ollama,
            include_str!("fixtures/ollama_tools.ndjson"),
            include_str!("fixtures/ollama_tools.json"),
        ),
    ];

    let all = Protocol::ALL.map(|protocol| (protocol, protocol.stream(), protocol.whole()));
    all.into_iter().chain(more).collect()
}

fn text(texts: &[&str]) -> Vec<Delta> {
    let texts = texts.iter().map(|text| Delta::Text((*text).to_owned()));
    texts.collect()
}

/// What a client makes of an answer to a request for a stream.
async fn stream_of(answer: Answer) -> (Vec<Delta>, Result<ChatResponse, LlmError>) {
    let server = Server::start([answer]).await;
    let settings = Settings {
        timeout: Some(Duration::from_millis(300)),
        ..Settings::default()
    };
    follow(&Protocol::Chat.client_with(&server.origin(), &settings)).await
}

async fn events(body: &str) -> (Vec<Delta>, Result<ChatResponse, LlmError>) {
    Protocol::Chat.events(body).await
}

#[tokio::test]
async fn a_streamed_reply_equals_the_same_reply_whole_wherever_the_network_cuts_it() {
    for (protocol, stream, whole) in recorded() {
        let expected = protocol.outcome(ok(whole)).await.unwrap();
        for size in [13, 101, 100_000] {
            let raw = streamed(stream);
            let pieces = raw.chunks(size).map(<[u8]>::to_vec).collect();
            let server = Server::start([Answer::Pieces(Duration::ZERO, pieces)]).await;
            let (deltas, response) = follow(&protocol.client(&server)).await;

            let response = response.unwrap();
            let has_data = [&response, &expected].map(|reply| reply.provider_data().is_some());
            assert_eq!(has_data[0], has_data[1], "{protocol:?}");
            let expected = expected.clone().without_provider_data();
            assert_eq!(response.without_provider_data(), expected);
            assert!(deltas.len() > 1, "{deltas:?}");
        }
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

    for protocol in [Protocol::Responses, Protocol::Messages] {
        let (deltas, _) = protocol.events(protocol.stream()).await;
        let thought = ["Two and ", "two."].map(|text| Delta::Reasoning(text.to_owned()));
        assert_eq!(deltas[..2], thought);
        assert_eq!(deltas[2..], text(&["Fo", "ur 🤔."]));
    }
}

#[tokio::test]
async fn a_delta_is_given_before_the_next_one_is_sent() {
    let (first, rest) = OPENAI.split_at(OPENAI.find(" dich").unwrap());
    let pieces = vec![streamed(first), rest.into()];
    let server = Server::start([Answer::Pieces(Duration::from_secs(20), pieces)]).await;
    let mut reply = server
        .client()
        .stream(ChatRequest::default())
        .await
        .unwrap();

    let delta = tokio::time::timeout(Duration::from_secs(10), reply.next()).await;
    assert_eq!(
        delta.unwrap().unwrap().unwrap(),
        Delta::Text("Grüß".to_owned())
    );
}

#[tokio::test]
async fn a_stream_cut_anywhere_is_interrupted_and_keeps_the_text_so_far() {
    for (protocol, stream, whole) in recorded() {
        let complete = protocol.outcome(ok(whole)).await.unwrap();

        // Servers end a reply with a finish reason, the usage after it, a mark after that; what is
        // between the first and the last isn't a reason to throw a whole reply away.
        let ends = [
            "\"finish_reason\":\"",
            "message_stop",
            "\"done_reason\"",
            "response.completed",
        ];
        let end = ends.iter().find_map(|mark| stream.find(mark)).unwrap();
        for cut in (0..end).step_by(97) {
            let part = String::from_utf8_lossy(&stream.as_bytes()[..cut]);
            let error = protocol.events(&part).await.1.unwrap_err();
            assert!(complete.text().starts_with(error.text_so_far().unwrap()));
            assert_eq!(
                error.to_string(),
                "interrupted stream: the reply broke off: the stream ended without its end marker (status 200)"
            );
        }
    }
}

#[tokio::test]
async fn a_stream_may_lack_its_last_mark_its_finish_reason_or_the_end_of_its_connection() {
    let whole = events(OPENAI).await.1.unwrap();
    let unmarked = OPENAI.replace("data: [DONE]\n\n", "");
    for body in [
        &unmarked,
        &OPENAI[..OPENAI.len() - 1],
        &OPENAI[..OPENAI.len() - 2],
    ] {
        assert_eq!(events(body).await.1.unwrap(), whole);
    }

    let unreasoned = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n";
    assert_eq!(events(unreasoned).await.1.unwrap(), ChatResponse::new("Hi"));

    let (_, response) = stream_of(Answer::Stall(streamed(OPENAI))).await;
    assert_eq!(response.unwrap(), whole);
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
    assert_eq!(told(response), "\"abc\" Other(\"vibes\") tokens 1 0 0 0 0");

    // Events that nobody knows yet, and an end without a beginning.
    let body = "event: mood\ndata: {\"type\":\"mood\",\"delta\":{\"text\":\"gloomy\"}}\n\n\
        event: content_block_start\ndata: {\"content_block\":{\"type\":\"text\",\"text\":\"a\"}}\n\n\
        data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"mood_delta\",\"mood\":\"gloomy\"}}\n\n\
        data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":2}}\n\n\
        event: message_stop\ndata: {}\n\n";
    let (_, response) = Protocol::Messages.events(body).await;
    assert_eq!(told(response), "\"a\" Length tokens 0 2 0 0 0");

    // Text and calls that only the complete items have.
    let body = "data: {\"type\":\"response.mood\"}\n\n\
        data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"content\":[{\"text\":\"a\"}]}}\n\n\
        data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"name\":\"clock\"}}\n\n\
        data: {\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}\n\n";
    let (deltas, response) = Protocol::Responses.events(body).await;
    assert_eq!(deltas[..1], text(&["a"]));
    assert_eq!(told(response), "\"a\" Length called clock call_1 {}");

    let body = format!(
        "data: {{\"type\":\"response.completed\",\"response\":{}}}\n\n",
        Protocol::Responses.whole().trim()
    );
    assert_eq!(
        Protocol::Responses.events(&body).await.1.unwrap().text(),
        "Four 🤔."
    );
}

#[tokio::test]
async fn an_error_event_is_an_error_of_its_kind_with_the_text_so_far() {
    let chat = "data: {\"choices\":[{\"delta\":{\"content\":\"Half a \"}}]}\n\n";
    let responses = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Half a \"}\n\n";
    let messages = "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"Half a \"}}\n\n";
    let ollama = "{\"message\":{\"content\":\"Half a \"}}\n";
    let refused = r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#;
    let cases = [
        (
            Protocol::Chat,
            chat,
            r#"{"error":{"message":"m","code":429}}"#,
            "rate limit: m",
        ),
        (
            Protocol::Chat,
            chat,
            r#"{"error":{"message":"m","type":"overloaded_error"}}"#,
            "overloaded: m",
        ),
        (
            Protocol::Chat,
            chat,
            r#"{"error":"out of memory","choices":[]}"#,
            "server: out of memory",
        ),
        (
            Protocol::Chat,
            "",
            "oops",
            "decode: the response is not JSON: expected value at line 1 column 1",
        ),
        (
            Protocol::Responses,
            responses,
            r#"{"type":"error","message":"m","code":"rate_limit_exceeded"}"#,
            "rate limit: m",
        ),
        (
            Protocol::Responses,
            responses,
            r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}}"#,
            "server: m",
        ),
        (
            Protocol::Responses,
            responses,
            r#"{"type":"response.failed"}"#,
            "decode: the server reports a failure without a reason",
        ),
        (
            Protocol::Messages,
            messages,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
            "overloaded: m",
        ),
        (
            Protocol::Messages,
            messages,
            r#"{"type":"error","error":{"type":"timeout_error","message":"m"}}"#,
            "timeout: m",
        ),
        (
            Protocol::Messages,
            messages,
            &format!("{refused}\n\ndata: {{\"type\":\"message_stop\"}}"),
            "content filter: the model refused without a reason",
        ),
        (
            Protocol::Ollama,
            ollama,
            r#"{"error":"the runner died"}"#,
            "server: the runner died",
        ),
    ];

    for (protocol, begun, event, expected) in cases {
        let event = match protocol {
            Protocol::Ollama => format!("{event}\n"),
            _ => format!("data: {event}\n\ndata: [DONE]\n\n"),
        };
        let error = protocol
            .events(&format!("{begun}{event}"))
            .await
            .1
            .unwrap_err();
        assert_eq!(error.to_string(), format!("{expected} (status 200)"));
        assert_eq!(
            error.text_so_far().unwrap_or_default(),
            if begun.is_empty() { "" } else { "Half a " }
        );
    }

    // The name of the event says it, too.
    let body = "event: error\ndata: {\"message\":\"m\",\"code\":\"503\"}\n\n";
    let error = events(body).await.1.unwrap_err();
    assert_eq!(error.to_string(), "overloaded: m (status 200)");
}

#[tokio::test]
async fn a_refusal_in_pieces_is_a_refusal() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":null,\"refusal\":\"I can\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"refusal\":\"not.\"},\"finish_reason\":\"stop\"}]}\n\n";
    for end in ["data: [DONE]\n\n", ""] {
        let error = events(&format!("{body}{end}")).await.1.unwrap_err();
        let expected = "content filter: the model refused: I cannot. (status 200)";
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn a_whole_reply_where_a_stream_was_asked_for_is_taken() {
    for protocol in Protocol::ALL {
        let server = Server::start([ok(protocol.whole()), ok(protocol.whole())]).await;
        let client = protocol.client(&server);
        assert_eq!(
            follow(&client).await.1.unwrap(),
            ask(&client).await.unwrap()
        );
    }

    let error = stream_of(ok(r#"{"error":{"message":"m","code":429}}"#))
        .await
        .1;
    assert_eq!(error.unwrap_err().to_string(), "rate limit: m (status 200)");
}

#[tokio::test]
async fn request_ids_are_kept() {
    let head = "HTTP/1.1 200 OK\r\nx-request-id: req_1\r\nconnection: close\r\n\r\n";
    let (_, response) = stream_of(Answer::Raw(format!("{head}{OPENAI}").into_bytes())).await;
    assert_eq!(response.unwrap().request_id(), Some("req_1"));
    let (_, response) = stream_of(Answer::Raw(format!("{head}data: oops\n\n").into_bytes())).await;
    assert_eq!(response.unwrap_err().request_id(), Some("req_1"));

    let limited = answer(
        429,
        "retry-after: 2\r\nrequest-id: req_7\r\n",
        r#"{"error":"slow"}"#,
    );
    let server = Server::start([limited]).await;
    let error = server
        .client()
        .stream(ChatRequest::default())
        .await
        .unwrap_err();
    let expected = "rate limit: slow (status 429, retry after 2s, request req_7)";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_stream_that_breaks_keeps_the_text_so_far() {
    let part = &OPENAI[..OPENAI.find("!\\n").unwrap()];
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n";
    for (answer, kind) in [
        (Answer::Reset(streamed(part)), Kind::InterruptedStream),
        (
            Answer::Raw(format!("{chunked}{part}").into_bytes()),
            Kind::InterruptedStream,
        ),
        (Answer::Stall(streamed(part)), Kind::Timeout),
    ] {
        let (deltas, response) = stream_of(answer).await;
        let error = response.unwrap_err();
        assert_eq!(deltas, text(&["Grüß", " dich 🤔"]));
        assert_eq!(
            (error.kind(), error.text_so_far()),
            (kind, Some("Grüß dich 🤔"))
        );
    }

    let comments = Answer::Endless("", ": still here\n\n".to_owned());
    assert_eq!(
        stream_of(comments).await.1.unwrap_err().kind(),
        Kind::Timeout
    );
}

/// Whatever a stream repeats without end, something counts it.
#[tokio::test]
async fn streams_without_end_stop_at_the_limit() {
    let x = "x".repeat(1000);
    let chat = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    let event = |event: &str| format!("data: {event}\n\n");
    let block = r#"{"type":"content_block_start","content_block":{"type":"tool_use"}}"#;
    let cases = [
        (Protocol::Chat, chat(&format!(r#"{{"content":"{x}"}}"#))),
        (Protocol::Chat, chat(&format!(r#"{{"refusal":"{x}"}}"#))),
        (
            Protocol::Chat,
            chat(&format!(r#"{{"reasoning_content":"a","reasoning":"{x}"}}"#)),
        ),
        (
            Protocol::Chat,
            chat(&format!(r#"{{"extra_content":"{x}"}}"#)),
        ),
        (
            Protocol::Chat,
            chat(&format!(r#"{{"reasoning_details":[{{"data":"{x}"}}]}}"#)),
        ),
        (
            Protocol::Chat,
            chat(&format!(
                r#"{{"content":[{{"type":"a","x":"{x}"}},{{"type":"b"}}]}}"#
            )),
        ),
        (
            Protocol::Chat,
            chat(&format!(
                r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{x}"}}}}]}}"#
            )),
        ),
        (
            Protocol::Responses,
            event(&format!(
                r#"{{"type":"response.output_text.delta","delta":"{x}"}}"#
            )),
        ),
        (
            Protocol::Responses,
            event(&format!(
                r#"{{"type":"response.output_item.done","item":{{"type":"mood","x":"{x}"}}}}"#
            )),
        ),
        (
            Protocol::Responses,
            event(&format!(
                r#"{{"type":"response.output_item.done","item":{{"type":"message","x":"{x}"}}}}"#
            )),
        ),
        (
            Protocol::Messages,
            event(&format!(
                r#"{{"type":"content_block_delta","delta":{{"text":"{x}"}}}}"#
            )),
        ),
        (
            Protocol::Messages,
            event(&format!(
                r#"{{"type":"content_block_start","content_block":{{"type":"mood","x":"{x}"}}}}"#
            )),
        ),
        (
            Protocol::Messages,
            event(block)
                + &event(&format!(
                    r#"{{"type":"content_block_delta","delta":{{"partial_json":"{x}"}}}}"#
                )),
        ),
        (
            Protocol::Messages,
            event(block)
                + &event(&format!(
                    r#"{{"type":"content_block_delta","delta":{{"signature":"{x}"}}}}"#
                )),
        ),
        (
            Protocol::Ollama,
            format!("{{\"message\":{{\"thinking\":\"{x}\"}}}}\n"),
        ),
    ];

    for (protocol, more) in cases {
        let server = Server::start([Answer::Endless("\n", more.clone())]).await;
        let settings = Settings {
            max_bytes: Some(100_000),
            timeout: Some(Duration::from_secs(20)),
            ..Settings::default()
        };
        let client = protocol.client_with(&server.origin(), &settings);
        let error = follow(&client).await.1.unwrap_err();
        let expected = "the response is over the limit of 100000 bytes";
        assert_eq!(error.message(), expected, "{more:.200}");
    }

    for more in ["x", "data: x\n"] {
        let server = Server::start([Answer::Endless("data: ", more.to_owned())]).await;
        let error = follow(&server.client()).await.1.unwrap_err();
        let expected = "an event of the stream is over the limit of 8388608 bytes";
        assert_eq!(error.message(), expected);
    }
}

#[tokio::test]
async fn a_dropped_stream_leaves_the_client_ready() {
    let server = Server::start([Answer::Stall(streamed(&OPENAI[..900])), says("Hi.")]).await;
    let client = server.client();
    let mut reply = client.stream(ChatRequest::default()).await.unwrap();
    assert!(reply.next().await.unwrap().is_ok());
    drop(reply);
    assert_eq!(ask(&client).await.unwrap().text(), "Hi.");
}

/// A stream whose reply has `count` pieces, and which has everything that a reader keeps.
fn long_stream(protocol: Protocol, count: usize) -> String {
    let repeat = |event: &dyn Fn(usize) -> String| -> String { (0..count).map(event).collect() };

    match protocol {
        Protocol::Chat => {
            let end = "data: [DONE]\n\n";
            let piece = |n| {
                format!(
                    "data: {{\"choices\":[{{\"delta\":{{\"content\":[{{\"type\":\"text\",\"text\":\"a\"}}],\"reasoning\":\"b\",\"reasoning_details\":[{{\"index\":{n},\"text\":\"c\"}}],\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":\"d\"}}}}]}}}}]}}\n\n"
                )
            };
            repeat(&piece) + end
        }
        Protocol::Responses => {
            let end = "data: {\"type\":\"response.completed\"}\n\n";
            let piece = |n| {
                format!(
                    "data: {{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}}\n\ndata: {{\"type\":\"response.output_item.done\",\"item\":{{\"type\":\"message\",\"id\":{n},\"content\":\"a\"}}}}\n\n"
                )
            };
            repeat(&piece) + end
        }
        Protocol::Messages => {
            let end = "data: {\"type\":\"message_stop\"}\n\n";
            let piece = |n| {
                format!(
                    "data: {{\"type\":\"content_block_start\",\"index\":{n},\"content_block\":{{\"type\":\"thinking\"}}}}\n\ndata: {{\"type\":\"content_block_delta\",\"index\":{n},\"delta\":{{\"thinking\":\"a\",\"signature\":\"b\"}}}}\n\ndata: {{\"type\":\"content_block_stop\",\"index\":{n}}}\n\n"
                )
            };
            repeat(&piece) + end
        }
        Protocol::Ollama => {
            let end = "{\"done\":true}\n";
            let piece = |_| "{\"message\":{\"content\":\"a\",\"thinking\":\"b\"}}\n".to_owned();
            repeat(&piece) + end
        }
    }
}

#[test]
fn ten_times_the_stream_is_ten_times_the_work() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for protocol in Protocol::ALL {
        let bytes = |count| {
            let body = long_stream(protocol, count);
            let measured = allocation_counter::measure(|| {
                runtime.block_on(protocol.events(&body)).1.unwrap();
            });
            measured.bytes_total
        };

        let (some, more) = (bytes(500), bytes(5_000));
        assert!(
            more < 15 * some,
            "{protocol:?}: {some} bytes allocated, and for ten times as much {more}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn a_damaged_stream_gives_a_reply_or_an_error_that_holds_a_beginning(
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, "[\\x00-\\x7f\"{}\\[\\]:,\n]{0,6}"), 1..6),
        which in 0..recorded().len(),
    ) {
        let (protocol, stream, _) = recorded()[which];
        let mut bytes = stream.as_bytes().to_vec();
        for (place, removed, put) in damages {
            let place = place.index(bytes.len());
            let end = (place + removed).min(bytes.len());
            bytes.splice(place..end, put.bytes());
        }

        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (deltas, outcome) = runtime.block_on(async {
            let server = Server::start([Answer::Raw([streamed("").as_slice(), &bytes].concat())]).await;
            follow(&protocol.client(&server)).await
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
            Err(error) => prop_assert!(error.text_so_far().unwrap_or_default().starts_with(&seen)),
        }
    }
}
