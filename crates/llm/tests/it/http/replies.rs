//! Complete replies: what is accepted, and what is refused.

use cogwork_llm::LlmErrorKind as Kind;

use crate::http::support::{
    Answer, Protocol, Server, answer, ask, check_replies, ok, outcome, told,
};

#[tokio::test]
async fn each_protocol_has_its_places_for_text_thinking_tokens_and_names() {
    let mut all = Vec::new();
    for protocol in Protocol::ALL {
        let response = protocol.outcome(ok(&protocol.whole())).await.unwrap();
        let names = [response.model(), response.id()];
        all.push(format!("{} {names:?}", told(Ok(response.clone()))));
    }

    insta::assert_snapshot!(all.join("\n"), @r#"
    "Four." Stop thought "Easy." tokens 14 5 0 0 0 [Some("gpt-3.5-turbo"), Some("chatcmpl-x")]
    "Four 🤔." Stop thought "Two and two." tokens 31 25 16 0 20 [Some("gpt-6-sol-2026-09-10"), Some("resp_1")]
    "Four 🤔." Stop thought "Two and two." tokens 1125 15 1000 100 0 [Some("claude-sonnet-4-5-20250929"), Some("msg_01")]
    "Four 🤔." Stop thought "Two and two." tokens 26 282 0 0 0 [Some("qwen3:4b"), None]
    "#);
}

/// Messages of Chat.
const MESSAGES: &str = r#"
{"content":"a"} => "a" Stop
{"content":null} | {"role":"assistant"} | {"content":[]} | {"content":[{"text":""}]} => "" Stop
{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]} => "ab" Stop
{"content":["a",{"type":"text","text":"b"},{"text":null}]} => "ab" Stop
{"content":[{"type":"thinking","thinking":[{"text":"x"}]},{"text":"a"}]} => "a" Stop thought "x"
{"content":[5,null,true,[["x"]],{"text":7},{},"a"]} => "a" Stop
{"content":[{"type":"text","text":{"value":"a","annotations":[]}}]} => "a" Stop
{"content":"a","refusal":"","reasoning_content":"b"} => "a" Stop thought "b"
{"content":"a","reasoning":"b","reasoning_content":null} => "a" Stop thought "b"
{"content":"a","reasoning":["b"]} => "a" Stop
{"content":[5]} | {"content":[null]} | {"content":[[]]} | {"content":{"text":"a"}} | {"content":42} => decode: choices[0] has content without text; expected text in at least one part (status 200)
{"content":[{"type":"image_url"},{"text":null}]} => decode: choices[0] has content without text; expected text in at least one part (status 200)
{"content":null,"refusal":"I will not."} => content filter: the model refused: I will not. (status 200)
{"content":[{"type":"refusal"}],"refusal":"I will not."} => content filter: the model refused: I will not. (status 200)
{"content":"But I will.","refusal":"I will not."} => "But I will." Stop
"#;

/// Responses of Chat.
const COMPLETIONS: &str = r#"
{"choices":[{"message":{"content":"a"}},{"message":{"content":7}}, "rest"]} => "a" Stop
{"choices":[{"message":{"content":[{"type":"thinking"}]},"finish_reason":"length"}],"usage":{"completion_tokens":9}} => "" Length tokens 0 9 0 0 0
{"choices":[{"message":{"content":"half an ans"},"finish_reason":"error"}]} => server: the server ended the reply with an error (status 200)
{} | {"choices":null} | {"choices":[]} | {"choices":"none"} => decode: the response has no choices; expected at least one (status 200)
{"choices":[{}]} | {"choices":[7]} => decode: choices[0] is empty; expected a message (status 200)
[1] | "a" => decode: the response is not a JSON object (status 200)
{"choices": [{"mess => decode: the response is not JSON: EOF while parsing a string at line 1 column 19 (status 200)
Hello! => decode: the response is not JSON: expected value at line 1 column 1 (status 200)
<!DOCTYPE html><html><body>Login</body></html> => decode: the response is an HTML page; expected JSON (status 200)
"#;

const RESPONSES: &str = r#"
{"output":[]} => "" Stop
{"output":[7,{"type":"web_search_call","id":"ws"},{"type":"message","content":[{"text":"a"},{"x":1},{"text":"b"}]}]} => "ab" Stop
{"output":[{"type":"message","content":"a"}]} => "a" Stop
{"output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"a"}]}],"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":3,"cache_write_tokens":1}}} => "" Stop thought "a" tokens 5 0 3 1 0
{"output":[],"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}} => "" Length
{"output":[],"status":"incomplete","incomplete_details":{"reason":"content_filter"}} => "" ContentFilter
{"output":[],"status":"cancelled"} => "" Other("cancelled")
{"output":[{"type":"message","content":[{"type":"refusal","refusal":"I will not."}]}]} => content filter: the model refused: I will not. (status 200)
{"output":[],"status":"failed","error":{"code":"server_error","message":"out of order"}} => server: out of order (status 200)
{"output":[],"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}} => rate limit: slow down (status 200)
{} | {"output":{}} => decode: the response has no output; expected an array of items (status 200)
"#;

const ANTHROPIC: &str = r#"
{"content":[]} => "" Stop
{"content":[{"type":"server_tool_use","input":{}},{"type":"text","text":"a"},7,{"text":"b"}],"usage":null} => "ab" Stop
{"content":[],"stop_reason":"max_tokens","usage":{"output_tokens":3}} => "" Length tokens 0 3 0 0 0
{"content":[],"stop_reason":"model_context_window_exceeded"} => "" Length
{"content":[{"text":"No"}],"stop_reason":"refusal"} => content filter: the model refused without a reason (status 200)
{"content":[],"stop_reason":"refusal","stop_details":{"category":"cyber"}} => content filter: the model refused: cyber (status 200)
{"content":[],"stop_reason":"refusal","stop_details":{"explanation":"No."}} => content filter: the model refused: No. (status 200)
{"content":[],"stop_reason":"refusal","stop_details":{"category":"cyber","explanation":"No."}} => content filter: the model refused (cyber): No. (status 200)
[] => decode: the response is not a JSON object (status 200)
{} | {"content":7} | {"content":"a"} => decode: the response has no content; expected an array of blocks (status 200)
"#;

const OLLAMA: &str = r#"
{"message":{},"done":true} => "" Stop
{"message":{"content":"a","thinking":null},"done_reason":null,"eval_count":3} => "a" Stop tokens 0 3 0 0 0
{"message":{"content":"a"},"done_reason":"length"} => "a" Length
{"message":{"content":""},"done_reason":"load"} => "" Other("load")
{} => decode: the response has no message; expected an object with content (status 200)
"#;

#[tokio::test]
async fn lenient_in_what_a_reply_may_be() {
    check_replies(Protocol::Chat, r#"{"choices":[{"message":$}]}"#, MESSAGES).await;
    let tables = [COMPLETIONS, RESPONSES, ANTHROPIC, OLLAMA];
    for (protocol, table) in Protocol::ALL.into_iter().zip(tables) {
        check_replies(protocol, "$", table).await;
    }

    // The text before a refusal isn't the answer.
    let body = r#"{"content":[{"text":"Take two "}],"stop_reason":"refusal"}"#;
    let error = Protocol::Messages.outcome(ok(body)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::ContentFilter);
    assert_eq!(error.text_so_far(), Some("Take two "));
}

#[tokio::test]
async fn an_error_that_says_nothing_does_not_cost_the_reply() {
    let reply = r#"{"choices":[{"message":{"content":"a"}}],"error":$}"#;
    let table = r#"
        null | false | 0 | "" | {} | {"message":"","code":null} => "a" Stop
        true => server: true (status 200)
        "no" => server: no (status 200)
        [0] => server: 0 (status 200)
        {"oops":1} => server: {"oops":1} (status 200)
        {"message":"","code":500} => server: {"code":500,"message":""} (status 200)
    "#;
    check_replies(Protocol::Chat, reply, table).await;
}

#[tokio::test]
async fn finish_reasons_of_any_form_are_taken() {
    let reply = r#"{"choices":[{"message":{"content":"a"},"finish_reason":$}]}"#;
    let table = r#"
        "stop" | "STOP" | "end_turn" | "EOS" | "stop_sequence" => "a" Stop
        "" | null | 7 | {"type":"stop"} => "a" Stop
        "length" | "LENGTH" | "max_tokens" | "MAX_TOKENS" => "a" Length
        "max_output_tokens" | "Model_Length" => "a" Length
        "content_filter" | "Content_Filter" | "SAFETY" => "a" ContentFilter
        "tool_calls" | "function_call" | "tool_use" => "a" ToolCalls
        "RECITATION" => "a" Other("RECITATION")
    "#;
    check_replies(Protocol::Chat, reply, table).await;
}

#[tokio::test]
async fn usage_is_taken_as_far_as_it_goes() {
    let reply = r#"{"choices":[{"message":{"content":"a"}}],"usage":$}"#;
    let table = r#"
        null | {} | "none" | [1, 2] | {"prompt_tokens":"many"} => "a" Stop
        {"prompt_tokens":"5"} | {"prompt_tokens":5} | {"prompt_tokens":5.0,"completion_tokens":-1} => "a" Stop tokens 5 0 0 0 0
        {"completion_tokens":5,"prompt_tokens":null} => "a" Stop tokens 0 5 0 0 0
        {"prompt_tokens":1e300,"completion_tokens":1} => "a" Stop tokens 18446744073709551615 1 0 0 0
        {"prompt_tokens":5,"prompt_tokens_details":null} => "a" Stop tokens 5 0 0 0 0
        {"prompt_tokens":5,"prompt_tokens_details":[4]} => "a" Stop tokens 5 0 0 0 0
        {"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":1}} => "a" Stop tokens 5 0 4 1 0
        {"prompt_tokens":5,"prompt_cache_hit_tokens":4} => "a" Stop tokens 5 0 4 0 0
        {"input_tokens":5,"output_tokens":4,"output_tokens_details":{"reasoning_tokens":3}} => "a" Stop tokens 5 4 0 0 3
    "#;
    check_replies(Protocol::Chat, reply, table).await;
}

#[tokio::test]
async fn any_good_status_content_type_and_framing_will_do() {
    let body = r#"{"choices":[{"message":{"content":"a"}}]}"#;
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n\
        a\r\n{\"choices\"\r\n1f\r\n:[{\"message\":{\"content\":\"a\"}}]}\r\n0\r\n\r\n";

    for answer in [
        answer(201, "content-type: text/plain\r\n", body),
        answer(200, "", body),
        Answer::Raw(chunked.into()),
    ] {
        assert_eq!(outcome(answer).await.unwrap().text(), "a");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_shown() {
    let error = outcome(ok("Hello\u{7}!")).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (Kind::Decode, Some(200)));
    assert_eq!(error.body(), Some("Hello\u{fffd}!"));
    assert!(!error.is_retryable());

    let page = outcome(ok("\u{feff}\n<html><title>Log in</title></html>")).await;
    let expected = "decode: the response is an HTML page; expected JSON (status 200)\nan HTML page";
    assert_eq!(format!("{:#}", page.unwrap_err()), expected);
}

#[tokio::test]
async fn a_reply_cut_anywhere_is_a_decode_error() {
    for protocol in Protocol::ALL {
        let whole = protocol.whole();
        let is_cut = |cut: &usize| cut.is_multiple_of(7) && whole.is_char_boundary(*cut);
        let cuts = (0..whole.trim_end().len()).filter(is_cut);
        let parts: Vec<_> = cuts.map(|cut| &whole[..cut]).collect();
        let server = Server::start(parts.iter().map(|part| ok(part))).await;
        let client = protocol.client(&server);
        for part in parts {
            let error = ask(&client).await.unwrap_err();
            assert_eq!(error.kind(), Kind::Decode, "{part}");
            assert_eq!(error.status(), Some(200));
        }
    }
}

#[tokio::test]
async fn deep_nesting_is_a_decode_error_wherever_it_stands() {
    let open = "[".repeat(100_000);
    let closed = format!("{open}{}", "]".repeat(100_000));
    for body in [
        open.clone(),
        closed.clone(),
        format!(r#"{{"error":{closed}}}"#),
        format!(r#"{{"choices":[{{"message":{{"content":{open}"#),
        format!(r#"{{"choices":[{{"message":{{"content":"a"}}}}],"usage":{closed}}}"#),
    ] {
        let error = outcome(ok(&body)).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Decode);
        assert_eq!(error.body().map(|body| body.chars().count()), Some(500));
    }
}
