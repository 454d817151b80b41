//! Responses that are accepted, and those that are refused.

use cogwork_llm::{ChatResponse, FinishReason, LlmErrorKind, Usage};

use crate::http::support::{Server, answer, ask, ok, outcome};

async fn reply(body: &str) -> ChatResponse {
    outcome(ok(body))
        .await
        .unwrap_or_else(|error| panic!("{body}: {error:#}"))
}

#[tokio::test]
async fn a_whole_answer_is_read_whole() {
    let response = reply(
        r#"{
          "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-x-2026",
          "choices": [{"index": 0, "logprobs": null, "finish_reason": "length",
            "message": {"role": "assistant", "content": "4\n\ud83e\udd14", "refusal": null, "annotations": []}}],
          "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 8, "audio_tokens": 0}},
          "service_tier": "default", "system_fingerprint": null
        }"#,
    )
    .await;

    let expected = ChatResponse::new("4\n\u{1f914}")
        .with_finish_reason(FinishReason::Length)
        .with_usage(Usage::new(12, 3).with_cached_tokens(8))
        .with_model("gpt-x-2026")
        .with_id("chatcmpl-1");
    assert_eq!(response, expected);
}

#[tokio::test]
async fn content_may_be_text_parts_or_absent() {
    let cases = [
        (r#"{"choices":[{"message":{"content":"a"}}]}"#, "a"),
        (r#"{"choices":[{"message":{"content":null}}]}"#, ""),
        (r#"{"choices":[{"message":{"role":"assistant"}}]}"#, ""),
        (r#"{"choices":[{"message":{"content":[]}}]}"#, ""),
        (
            r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}"#,
            "ab",
        ),
        (
            r#"{"choices":[{"message":{"content":["a",{"type":"text","text":"b"},{"text":null}]}}]}"#,
            "ab",
        ),
        (
            r#"{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"text":"x"}]},{"text":"a"}]}}]}"#,
            "a",
        ),
        (r#"{"choices":[{"text":"a"}]}"#, "a"),
        (r#"{"choices":[{"text":"a","message":null}]}"#, "a"),
        (
            r#"{"choices":[{"message":{"content":"a"}},{"message":{"content":7}}, "rest"]}"#,
            "a",
        ),
        (
            r#"{"error":null,"choices":[{"message":{"content":"a","refusal":""}}]}"#,
            "a",
        ),
        (
            r#"{"choices":[{"message":{"content":[5,null,true,[["x"]],{"text":7},{},"a"]}}]}"#,
            "a",
        ),
        (
            r#"{"choices":[{"message":{"content":["a",{"text":["x"]},{"text":{"value":7}}]}}]}"#,
            "a",
        ),
        (
            r#"{"choices":[{"message":{"content":[{"type":"text","text":{"value":"a","annotations":[]}}]}}]}"#,
            "a",
        ),
        (r#"{"choices":[{"message":{"content":[{"text":""}]}}]}"#, ""),
        (
            r#"{"choices":[{"message":{"content":[5]},"text":"a"}]}"#,
            "a",
        ),
    ];
    for (body, text) in cases {
        assert_eq!(reply(body).await.text(), text, "{body}");
    }
}

#[tokio::test]
async fn an_error_that_says_nothing_does_not_cost_the_reply() {
    let empty = [
        "null",
        "false",
        "0",
        r#""""#,
        r#"" ""#,
        "[ ]",
        "{}",
        "{\n}",
        r#"{"message":"","code":null}"#,
    ];

    for error in empty {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"u"}}}}],"error":{error}}}"#);
        assert_eq!(reply(&body).await.text(), "u", "{error}");
        let error = outcome(ok(&format!(r#"{{"error":{error}}}"#)))
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "decode: the response has no choices; expected at least one (status 200)"
        );
    }

    for error in [
        "true",
        "1",
        r#""no""#,
        "[0]",
        r#"{"oops":1}"#,
        r#"{"message":"","code":500}"#,
    ] {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"u"}}}}],"error":{error}}}"#);
        assert_eq!(
            outcome(ok(&body)).await.unwrap_err().kind(),
            LlmErrorKind::Server,
            "{error}"
        );
    }
}

#[tokio::test]
async fn content_without_text_is_a_decode_error() {
    for content in [
        "[5]",
        "[null]",
        "[[]]",
        r#"[{"type":"image_url"},{"text":null}]"#,
    ] {
        let body = format!(r#"{{"choices":[{{"message":{{"content":{content}}}}}]}}"#);
        let error = outcome(ok(&body)).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Decode, "{content}");
        assert_eq!(
            error.to_string(),
            "decode: choices[0] has content without text; expected text in at least one part (status 200)"
        );
        assert_eq!(error.body(), Some(body.as_str()));
    }
}

#[tokio::test]
async fn a_reply_cut_off_before_its_first_text_is_empty_and_cut_off() {
    let body = r#"{"choices":[{"message":{"content":[{"type":"thinking"}]},"finish_reason":"length"}],"usage":{"completion_tokens":9}}"#;
    let expected = ChatResponse::new("")
        .with_finish_reason(FinishReason::Length)
        .with_usage(Usage::new(0, 9));
    assert_eq!(reply(body).await, expected);
}

#[tokio::test]
async fn finish_reasons_of_any_form_are_taken() {
    let cases = [
        (r#""stop""#, FinishReason::Stop),
        (r#""length""#, FinishReason::Length),
        (r#""LENGTH""#, FinishReason::Length),
        (r#""max_tokens""#, FinishReason::Length),
        (r#""MAX_TOKENS""#, FinishReason::Length),
        (r#""max_output_tokens""#, FinishReason::Length),
        (r#""Model_Length""#, FinishReason::Length),
        (r#""STOP""#, FinishReason::Stop),
        (r#""end_turn""#, FinishReason::Stop),
        (r#""EOS""#, FinishReason::Stop),
        (r#""stop_sequence""#, FinishReason::Stop),
        (r#""content_filter""#, FinishReason::ContentFilter),
        (r#""Content_Filter""#, FinishReason::ContentFilter),
        (r#""SAFETY""#, FinishReason::ContentFilter),
        (r#""tool_calls""#, FinishReason::ToolCalls),
        (r#""function_call""#, FinishReason::ToolCalls),
        (r#""tool_use""#, FinishReason::ToolCalls),
        (
            r#""RECITATION""#,
            FinishReason::Other("RECITATION".to_owned()),
        ),
        (r#""""#, FinishReason::Stop),
        ("null", FinishReason::Stop),
        ("7", FinishReason::Stop),
        (r#"{"type":"stop"}"#, FinishReason::Stop),
    ];

    for (reason, expected) in cases {
        let body =
            format!(r#"{{"choices":[{{"message":{{"content":"a"}},"finish_reason":{reason}}}]}}"#);
        assert_eq!(*reply(&body).await.finish_reason(), expected, "{reason}");
    }

    let missing = reply(r#"{"choices":[{"message":{"content":"a"}}]}"#).await;
    assert_eq!(*missing.finish_reason(), FinishReason::Stop);
}

#[tokio::test]
async fn usage_is_taken_as_far_as_it_goes() {
    let cases = [
        ("null", None),
        ("{}", None),
        (r#""none""#, None),
        ("[1, 2]", None),
        (r#"{"prompt_tokens":"many"}"#, None),
        (r#"{"prompt_tokens":5}"#, Some(Usage::new(5, 0))),
        (
            r#"{"completion_tokens":5,"prompt_tokens":null}"#,
            Some(Usage::new(0, 5)),
        ),
        (
            r#"{"prompt_tokens":5.0,"completion_tokens":-1}"#,
            Some(Usage::new(5, 0)),
        ),
        (
            r#"{"prompt_tokens":1e300,"completion_tokens":1}"#,
            Some(Usage::new(u64::MAX, 1)),
        ),
        (
            r#"{"prompt_tokens":5,"prompt_tokens_details":null}"#,
            Some(Usage::new(5, 0)),
        ),
        (
            r#"{"prompt_tokens":5,"prompt_tokens_details":{}}"#,
            Some(Usage::new(5, 0)),
        ),
        (
            r#"{"prompt_tokens":5,"prompt_tokens_details":7}"#,
            Some(Usage::new(5, 0)),
        ),
        (
            r#"{"prompt_tokens":5,"prompt_tokens_details":[4]}"#,
            Some(Usage::new(5, 0)),
        ),
        (
            r#"{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}"#,
            Some(Usage::new(5, 0).with_cached_tokens(4)),
        ),
    ];
    for (usage, expected) in cases {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"a"}}}}],"usage":{usage}}}"#);
        assert_eq!(reply(&body).await.usage(), expected, "{usage}");
    }
}

#[tokio::test]
async fn any_good_status_and_any_content_type_will_do() {
    let body = r#"{"choices":[{"message":{"content":"a"}}]}"#;
    assert_eq!(
        outcome(answer(201, "content-type: text/plain\r\n", body))
            .await
            .unwrap()
            .text(),
        "a"
    );

    assert_eq!(outcome(answer(200, "", body)).await.unwrap().text(), "a");
}

#[tokio::test]
async fn a_chunked_body_is_put_together() {
    let raw = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n\
        a\r\n{\"choices\"\r\n1f\r\n:[{\"message\":{\"content\":\"a\"}}]}\r\n0\r\n\r\n";
    assert_eq!(
        outcome(crate::http::support::Answer::Raw(raw.to_vec()))
            .await
            .unwrap()
            .text(),
        "a"
    );
}

#[tokio::test]
async fn what_is_no_completion_is_a_decode_error_that_says_where() {
    let cases = [
        ("", "the response is empty; expected JSON"),
        (
            "{\"choices\": [{\"mess",
            "the response ends in the middle of its JSON: EOF while parsing a string at line 1 column 19",
        ),
        (
            "Hello!",
            "the response is not JSON: expected value at line 1 column 1",
        ),
        ("{}", "the response has no choices; expected at least one"),
        (
            r#"{"choices":null}"#,
            "the response has no choices; expected at least one",
        ),
        (
            r#"{"choices":[]}"#,
            "the response has no choices; expected at least one",
        ),
        (
            r#"{"choices":[{}]}"#,
            "choices[0] is empty; expected a message or text",
        ),
        (
            r#"{"choices":"none"}"#,
            "the response is not a valid chat completion: invalid type: string \"none\", expected an array at line 1 column 17",
        ),
        (
            r#"{"choices":[{"message":{"content":42}}]}"#,
            "the response is not a valid chat completion: invalid type: integer `42`, expected text or an array of parts at line 1 column 36",
        ),
        (
            r#"{"choices":[7]}"#,
            "the response is not a valid chat completion: invalid type: integer `7`, expected struct Choice at line 1 column 13",
        ),
    ];
    for (body, message) in cases {
        let error = outcome(ok(body)).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Decode, "{body}");
        assert_eq!(
            error.to_string(),
            format!("decode: {message} (status 200)"),
            "{body}"
        );

        assert_eq!(error.body(), Some(body));
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn an_html_page_is_a_decode_error_with_its_title() {
    for (page, shown) in [
        (
            "<!DOCTYPE html><html><body>Login</body></html>",
            "an HTML page without a title",
        ),
        ("\n <html>", "an HTML page without a title"),
        (
            "\u{feff}<html><title>Log in</title></html>",
            "an HTML page titled \"Log in\"",
        ),
    ] {
        let error = outcome(ok(page)).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Decode);
        assert_eq!(
            format!("{error:#}"),
            format!("decode: the response is an HTML page; expected JSON (status 200)\n{shown}")
        );
    }
}

#[tokio::test]
async fn an_answer_cut_anywhere_is_a_value_or_a_decode_error() {
    let whole = r#"{"choices":[{"message":{"content":[{"text":"a\u00e9"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}"#;
    let server = Server::start((0..whole.len()).map(|end| ok(&whole[..end]))).await;
    let client = server.client();

    for end in 0..whole.len() {
        let error = ask(&client).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Decode, "{end}");
        assert_eq!(error.status(), Some(200));
    }
}

#[tokio::test]
async fn brackets_without_end_are_an_error_wherever_they_stand() {
    let deep = "[".repeat(100_000);
    for body in [
        deep.clone(),
        format!(r#"{{"choices":{deep}"#),
        format!(r#"{{"choices":[{{"message":{{"content":{deep}"#),
        format!(r#"{{"error":{deep}"#),
        format!(r#"{{"other":{deep}"#),
    ] {
        let error = outcome(ok(&body)).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Decode);
        assert_eq!(error.body().map(|body| body.chars().count()), Some(500));
    }

    // Closed, but in a field nobody needs: no harm.
    let usage = format!("{deep}{}", "]".repeat(100_000));
    let body = format!(r#"{{"choices":[{{"message":{{"content":"a"}}}}],"usage":{usage}}}"#);
    assert_eq!(reply(&body).await.text(), "a");
}

#[tokio::test]
async fn a_refusal_is_an_error_of_its_own() {
    let error = outcome(ok(
        r#"{"choices":[{"message":{"content":null,"refusal":"I will not."}}]}"#,
    ))
    .await
    .unwrap_err();

    assert_eq!(error.kind(), LlmErrorKind::ContentFilter);
    assert_eq!(
        error.to_string(),
        "content filter: the model refused: I will not. (status 200)"
    );
    let parts =
        r#"{"choices":[{"message":{"content":[{"type":"refusal"}],"refusal":"I will not."}}]}"#;
    assert_eq!(
        outcome(ok(parts)).await.unwrap_err().kind(),
        LlmErrorKind::ContentFilter
    );
}
