//! Replies in pieces: recorded ones of each kind of server, and everything that can go wrong in one.

use std::time::Duration;

use cogwork_llm::{ChatResponse, Delta, LlmError, LlmErrorKind as Kind, Usage};
use proptest::prelude::*;

use crate::http::support::{
    Answer, Protocol, Server, Settings, allocated, answer, ask, block_on, follow, ok, streamed,
    told,
};
use crate::table::check;

const OPENAI: &str = include_str!("fixtures/openai.sse");

/// All recorded replies.
fn recorded() -> Vec<(Protocol, [String; 2])> {
    let of = |protocol: Protocol| {
        protocol
            .recorded()
            .into_iter()
            .map(move |it| (protocol, it))
    };
    Protocol::ALL.into_iter().flat_map(of).collect()
}

fn text(texts: &[&str]) -> Vec<Delta> {
    let texts = texts.iter().map(|text| Delta::Text((*text).to_owned()));
    texts.collect()
}

/// What a client makes of an answer to a request for a stream.
async fn stream_of(answer: Answer) -> (Vec<Delta>, Result<ChatResponse, LlmError>) {
    let server = Server::start([answer]).await;
    let settings = Settings::limits(Duration::from_millis(300), 10_000_000);
    follow(&Protocol::Chat.client_with(&server.origin(), &settings)).await
}

async fn events(body: &str) -> (Vec<Delta>, Result<ChatResponse, LlmError>) {
    Protocol::Chat.events(body).await
}

#[tokio::test]
async fn a_streamed_reply_equals_the_same_reply_whole_wherever_the_network_cuts_it() {
    for (protocol, [stream, whole]) in recorded() {
        let expected = protocol.outcome(ok(&whole)).await.unwrap();
        for size in [13, 101, 100_000] {
            let pieces = streamed(&stream).chunks(size).map(<[u8]>::to_vec).collect();
            let server = Server::start([Answer::Pieces(pieces)]).await;
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
    let expected = ChatResponse::new("Grüß dich 🤔!\n")
        .with_usage(Usage {
            cached_tokens: 8,
            ..Usage::new(19, 10)
        })
        .with_model("gpt-4.1-mini-2025-04-14")
        .with_id("chatcmpl-B7q2");
    assert_eq!(response.unwrap(), expected);

    for protocol in [Protocol::Responses, Protocol::Messages] {
        let (deltas, _) = protocol.events(&protocol.stream()).await;
        let thought = ["Two and ", "two."].map(|text| Delta::Reasoning(text.to_owned()));
        assert_eq!(deltas[..2], thought);
        assert_eq!(deltas[2..], text(&["Fo", "ur 🤔."]));
    }
}

#[tokio::test]
async fn a_stream_cut_anywhere_is_interrupted_and_keeps_the_text_so_far() {
    for (protocol, [stream, whole]) in recorded() {
        let complete = protocol.outcome(ok(&whole)).await.unwrap();

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
            insta::allow_duplicates! {
                insta::assert_snapshot!(error, @"interrupted stream: the reply broke off: the stream ended without its end marker (status 200)");
            }
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

/// Lines of all kinds that standards allow, and chunks of all kinds that servers send.
const CHAT: &str = r#"event: message
id: 7
retry: 10
data: {"choices":[{"delta":{"content":
data: "a"}}]}

data:{"choices":null,"usage":{"prompt_tokens":1}}

: keep-alive

data: {"error":null,"choices":[{"index":1,"delta":{"content":"another choice"}}]}

data: {"choices":[{"delta":{"content":[{"type":"text","text":"b"}]}}],"x":[1]}

nonsense
data: {"choices":[{"message":{"content":"c"},"finish_reason":"vibes"}]}

data: [DONE]

"#;

/// Events that nobody knows yet, and an end without a beginning.
const MESSAGES: &str = r#"event: mood
data: {"type":"mood","delta":{"text":"gloomy"}}

event: content_block_start
data: {"content_block":{"type":"text","text":"a"}}

data: {"type":"content_block_delta","delta":{"type":"mood_delta","mood":"gloomy"}}

data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":2}}

event: message_stop
data: {}

"#;

/// Text and calls that only the complete items have.
const RESPONSES: &str = r#"data: {"type":"response.mood"}

data: {"type":"response.output_item.done","item":{"type":"message","content":[{"text":"a"}]}}

data: {"type":"response.output_item.done","item":{"type":"function_call","name":"clock"}}

data: {"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}

"#;

#[tokio::test]
async fn lenient_in_what_a_chunk_may_be() {
    for end in ["\n", "\r\n", "\r"] {
        let body = format!("\u{feff}{CHAT}").replace('\n', end);
        // Cuts some line breaks in two.
        let pieces = streamed(&body).chunks(7).map(<[u8]>::to_vec).collect();
        let (deltas, response) = stream_of(Answer::Pieces(pieces)).await;
        assert_eq!(deltas, text(&["a", "b", "c"]), "{end:?}");
        assert_eq!(told(response), "\"abc\" Other(\"vibes\") tokens 1 0 0 0 0");
    }
    let mut no_text = streamed("data: {\"choices\":[{\"delta\":{\"content\":\"a");
    no_text.extend(b"\xff\"}}]}\n\ndata: [DONE]");
    let (deltas, _) = stream_of(Answer::Raw(no_text)).await;
    assert_eq!(deltas, text(&["a\u{fffd}"]));

    let (_, response) = Protocol::Messages.events(MESSAGES).await;
    assert_eq!(told(response), "\"a\" Length tokens 0 2 0 0 0");
    let (deltas, response) = Protocol::Responses.events(RESPONSES).await;
    assert_eq!(deltas[..1], text(&["a"]));
    assert_eq!(told(response), "\"a\" Length called clock call_1 {}");

    let whole = Protocol::Responses.whole();
    let only = r#"{"type":"response.completed","response":$}"#.replace('$', whole.trim());
    let only = Protocol::Responses.event(&only);
    let (_, response) = Protocol::Responses.events(&only).await;
    assert_eq!(response.unwrap().text(), "Four 🤔.");
}

#[tokio::test]
async fn an_error_event_is_an_error_of_its_kind_with_the_text_so_far() {
    let table = r#"
        Chat {"error":{"message":"m","code":429}} => rate limit: m
        Chat {"error":{"message":"m","type":"overloaded_error"}} => overloaded: m
        Chat {"error":"out of memory","choices":[]} => server: out of memory
        Chat {"choices":[{"delta":{},"finish_reason":"error"}]} & [DONE] => server: the server ended the reply with an error
        Chat oops => decode: the response is not JSON: expected value at line 1 column 1
        Chat {"choices":[{"delta":{"refusal":"I can"}}]} & {"choices":[{"delta":{"refusal":"not."}}]} & [DONE] => content filter: the model refused: I cannot.
        Responses {"type":"error","message":"m","code":"rate_limit_exceeded"} => rate limit: m
        Responses {"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}} => server: m
        Responses {"type":"response.failed"} => decode: the server reports a failure without a reason
        Messages {"type":"error","error":{"type":"overloaded_error","message":"m"}} => overloaded: m
        Messages {"type":"error","error":{"type":"timeout_error","message":"m"}} => timeout: m
        Messages {"type":"message_delta","delta":{"stop_reason":"refusal"}} & {"type":"message_stop"} => content filter: the model refused without a reason
        Ollama {"error":"the runner died"} => server: the runner died
    "#;
    check(table, async |row| {
        let (name, rest) = row.split_once(' ').unwrap();
        let protocol = Protocol::named(name);
        let begun = match protocol {
            Protocol::Chat if rest.contains("refusal") => "{}",
            Protocol::Chat => r#"{"choices":[{"delta":{"content":"Half a "}}]}"#,
            Protocol::Responses => r#"{"type":"response.output_text.delta","delta":"Half a "}"#,
            Protocol::Messages => r#"{"type":"content_block_delta","delta":{"text":"Half a "}}"#,
            Protocol::Ollama => r#"{"message":{"content":"Half a "}}"#,
        };
        let body = protocol.all_events(&format!("{begun} & {rest}"));
        let error = protocol.events(&body).await.1.unwrap_err();
        if begun != "{}" {
            assert_eq!(error.text_so_far(), Some("Half a "));
        }
        error.to_string().replace(" (status 200)", "")
    })
    .await;

    // The name of the event says it, too.
    let body = "event: error\ndata: {\"message\":\"m\",\"code\":\"503\"}\n\n";
    let error = events(body).await.1.unwrap_err();
    assert_eq!(error.to_string(), "overloaded: m (status 200)");
}

#[tokio::test]
async fn a_whole_reply_where_a_stream_was_asked_for_is_taken() {
    for protocol in Protocol::ALL {
        let whole = ok(&protocol.whole());
        let server = Server::start([whole.clone(), whole]).await;
        let client = protocol.client(&server);
        let streamed = follow(&client).await.1.unwrap();
        assert_eq!(streamed, ask(&client).await.unwrap());
    }

    let limited = ok(r#"{"error":{"message":"m","code":429}}"#);
    let error = stream_of(limited).await.1.unwrap_err();
    assert_eq!(error.to_string(), "rate limit: m (status 200)");
}

#[tokio::test]
async fn request_ids_are_kept() {
    let head = "HTTP/1.1 200 OK\r\nx-request-id: req_1\r\nconnection: close\r\n\r\n";
    let of = async |body| {
        let answer = Answer::Raw(format!("{head}{body}").into_bytes());
        stream_of(answer).await.1
    };
    assert_eq!(of(OPENAI).await.unwrap().request_id(), Some("req_1"));
    let error = of("data: oops\n\n").await.unwrap_err();
    assert_eq!(error.request_id(), Some("req_1"));

    let headers = "retry-after: 2\r\nrequest-id: req_7\r\n";
    let limited = answer(429, headers, r#"{"error":"slow"}"#);
    let error = stream_of(limited).await.1.unwrap_err();
    let expected = "rate limit: slow (status 429, retry after 2s, request req_7)";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_stream_that_breaks_keeps_the_text_so_far() {
    let part = &OPENAI[..OPENAI.find("!\\n").unwrap()];
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n";
    let chunked = format!("{chunked}{part}").into_bytes();
    for (answer, kind) in [
        (Answer::Reset(streamed(part)), Kind::InterruptedStream),
        (Answer::Raw(chunked), Kind::InterruptedStream),
        // What came is given before the rest does.
        (Answer::Stall(streamed(part)), Kind::Timeout),
    ] {
        let (deltas, response) = stream_of(answer).await;
        let error = response.unwrap_err();
        assert_eq!(deltas, text(&["Grüß", " dich 🤔"]));
        assert_eq!(error.kind(), kind);
        assert_eq!(error.text_so_far(), Some("Grüß dich 🤔"));
    }

    let comments = Answer::Endless("", ": still here\n\n".to_owned());
    let error = stream_of(comments).await.1.unwrap_err();
    assert!(matches!(error.kind(), Kind::Timeout | Kind::Decode));
}

/// Events of which something grows; the text that it grows by is `LONG`.
const GROWING: &str = r#"
Chat {"choices":[{"delta":{"content":"LONG"}}]}
Chat {"choices":[{"delta":{"refusal":"LONG"}}]}
Chat {"choices":[{"delta":{"reasoning_content":"a","reasoning":"LONG"}}]}
Chat {"choices":[{"delta":{"extra_content":"LONG"}}]}
Chat {"choices":[{"delta":{"reasoning_details":[{"data":"LONG"}]}}]}
Chat {"choices":[{"delta":{"content":[{"type":"a","x":"LONG"},{"type":"b"}]}}]}
Chat {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"LONG"}}]}}]}
Responses {"type":"response.output_text.delta","delta":"LONG"}
Responses {"type":"response.output_item.done","item":{"type":"mood","x":"LONG"}}
Responses {"type":"response.output_item.done","item":{"type":"message","x":"LONG"}}
Messages {"type":"content_block_delta","delta":{"text":"LONG"}}
Messages {"type":"content_block_start","content_block":{"type":"mood","x":"LONG"}}
Messages {"type":"content_block_start","content_block":{"type":"tool_use"}} & {"type":"content_block_delta","delta":{"partial_json":"LONG"}}
Messages {"type":"content_block_start","content_block":{"type":"tool_use"}} & {"type":"content_block_delta","delta":{"signature":"LONG"}}
Ollama {"message":{"thinking":"LONG"}}
"#;

/// Whatever a stream repeats without end, something counts it.
#[tokio::test]
async fn streams_without_end_stop_at_the_limit() {
    for row in GROWING.trim().lines() {
        let (name, rest) = row.split_once(' ').unwrap();
        let protocol = Protocol::named(name);
        let more = protocol.all_events(rest).replace("LONG", &"x".repeat(1000));
        let server = Server::start([Answer::Endless("\n", more)]).await;
        let settings = Settings::limits(Duration::from_secs(20), 100_000);
        let client = protocol.client_with(&server.origin(), &settings);
        let error = follow(&client).await.1.unwrap_err();
        let expected = "the response is over the limit of 100000 bytes";
        assert_eq!(error.message(), expected, "{row}");
    }

    for more in ["x", "data: x\n"] {
        let server = Server::start([Answer::Endless("data: ", more.to_owned())]).await;
        let error = follow(&server.client()).await.1.unwrap_err();
        let expected = "an event of the stream is over the limit of 8388608 bytes";
        assert_eq!(error.message(), expected);
    }
}

/// A stream whose reply has `count` pieces, and which has everything that a reader keeps.
fn long_stream(protocol: Protocol, count: usize) -> String {
    let (pieces, end) = match protocol {
        Protocol::Chat => (
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"a"}],"reasoning":"b","reasoning_details":[{"index":N,"text":"c"}],"tool_calls":[{"index":0,"function":{"arguments":"d"}}]}}]}"#,
            "[DONE]",
        ),
        Protocol::Responses => (
            r#"{"type":"response.output_text.delta","delta":"a"} & {"type":"response.output_item.done","item":{"type":"message","id":N,"content":"a"}}"#,
            r#"{"type":"response.completed"}"#,
        ),
        Protocol::Messages => (
            r#"{"type":"content_block_start","index":N,"content_block":{"type":"thinking"}} & {"type":"content_block_delta","index":N,"delta":{"thinking":"a","signature":"b"}} & {"type":"content_block_stop","index":N}"#,
            r#"{"type":"message_stop"}"#,
        ),
        Protocol::Ollama => (
            r#"{"message":{"content":"a","thinking":"b"}}"#,
            r#"{"done":true}"#,
        ),
    };
    let pieces = protocol.all_events(pieces);
    let pieces = (0..count).map(|n| pieces.replace('N', &n.to_string()));
    pieces.chain([protocol.event(end)]).collect()
}

#[test]
fn ten_times_the_stream_is_ten_times_the_work() {
    for protocol in Protocol::ALL {
        let bytes = |count| allocated(protocol.events(&long_stream(protocol, count)));
        let (some, more) = (bytes(500), bytes(5_000));
        assert!(more < 15 * some, "{protocol:?}: {some} bytes, then {more}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn a_damaged_stream_gives_a_reply_or_an_error_that_holds_a_beginning(
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, "[\\x00-\\x7f\"{}\\[\\]:,\n]{0,6}"), 1..6),
        which in any::<prop::sample::Index>(),
    ) {
        let (protocol, [stream, _]) = which.get(&recorded()).clone();
        let mut bytes = stream.into_bytes();
        for (place, removed, put) in damages {
            let place = place.index(bytes.len());
            let end = (place + removed).min(bytes.len());
            bytes.splice(place..end, put.bytes());
        }

        let (deltas, outcome) = block_on(async {
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
