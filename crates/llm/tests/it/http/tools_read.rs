//! Calls that a model asks for: what is read of them, whole and in pieces, and of servers that are only
//! nearly what the protocol says.

use cogwork_llm::{
    AnthropicClient, ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError,
    LlmErrorKind as Kind, Message, OllamaClient, OpenAiClient, ToolCall,
};

use crate::http::support::{Answer, Server, ask, follow, ok, outcome, streamed};

fn asks(
    calls: impl IntoIterator<Item = (&'static str, &'static str, &'static str)>,
) -> ChatResponse {
    let calls = calls
        .into_iter()
        .map(|(id, name, arguments)| ToolCall::new(id, name, arguments));
    ChatResponse::default()
        .with_finish_reason(FinishReason::ToolCalls)
        .with_tool_calls(calls)
}

/// A chunk with this in its delta.
fn chunk(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n")
}

/// A chunk with these pieces of calls.
fn pieces(calls: &str) -> String {
    chunk(&format!("\"tool_calls\":[{calls}]"))
}

async fn stream_of(chunks: impl IntoIterator<Item = String>) -> Result<ChatResponse, LlmError> {
    let body: String = chunks.into_iter().collect();
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let server = Server::start([Answer::Raw(streamed(&(body + end)))]).await;

    follow(&server.client()).await.1
}

const BOTH: [(&str, &str, &str); 2] =
    [("a", "weather", r#"{"city":"Oslo"}"#), ("b", "clock", "{}")];

#[tokio::test]
async fn pieces_find_their_calls() {
    let cases: [(&str, Vec<&str>); 8] = [
        (
            "as the protocol says",
            vec![
                r#"{"index":0,"id":"a","type":"function","function":{"name":"weather","arguments":""}}"#,
                r#"{"index":0,"function":{"arguments":"{\"city\":"}}"#,
                r#"{"index":0,"function":{"arguments":"\"Oslo\"}"}}"#,
                r#"{"index":1,"id":"b","type":"function","function":{"name":"clock","arguments":"{}"}}"#,
            ],
        ),
        (
            "in turns",
            vec![
                r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"city\""}},{"index":1,"id":"b","function":{"name":"clock","arguments":"{"}}"#,
                r#"{"index":1,"function":{"arguments":"}"}}"#,
                r#"{"index":0,"function":{"arguments":":\"Oslo\"}"}}"#,
            ],
        ),
        (
            "id and name in every piece",
            vec![
                r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"city\":"}}"#,
                r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"\"Oslo\"}"}}"#,
                r#"{"index":1,"id":"b","function":{"name":"clock","arguments":"{"}}"#,
                r#"{"index":1,"id":"b","function":{"name":"clock","arguments":"}"}}"#,
            ],
        ),
        (
            "another id in every piece",
            vec![
                r#"{"index":0,"id":"a","function":{"name":"weather"}}"#,
                r#"{"index":0,"id":"x","function":{"arguments":"{\"city\":\"Oslo\"}"}}"#,
                r#"{"index":1,"id":"b","function":{"name":"clock"}}"#,
                r#"{"index":1,"id":"y","function":{"arguments":"{}"}}"#,
            ],
        ),
        (
            "no index",
            vec![
                r#"{"id":"a","function":{"name":"weather","arguments":"{\"city\":"}}"#,
                r#"{"id":"a","function":{"arguments":"\"Os"}}"#,
                r#"{"function":{"arguments":"lo\"}"}}"#,
                r#"{"id":"b","function":{"name":"clock","arguments":"{}"}}"#,
            ],
        ),
        (
            "whole calls, all of index 0",
            vec![
                r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}"#,
                r#"{"index":0,"id":"b","function":{"name":"clock","arguments":"{}"}}"#,
            ],
        ),
        (
            "whole calls in one piece, as objects",
            vec![
                r#"{"id":"a","function":{"name":"weather","arguments":{"city":"Oslo"}}},{"id":"b","function":{"name":"clock","arguments":{}}}"#,
            ],
        ),
        (
            "nothing beside them",
            vec![
                r#"null,7,{},{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}"#,
                r#"{"index":0,"function":{"name":null,"arguments":null}},{"index":1,"id":"b","function":{"name":"clock"}}"#,
            ],
        ),
    ];
    for (case, chunks) in cases {
        let response = stream_of(chunks.into_iter().map(pieces)).await.unwrap();
        assert_eq!(response, asks(BOTH), "{case}");
    }
}

#[tokio::test]
async fn calls_without_an_id_get_one_that_the_conversation_has_not() {
    let unnamed = [
        ("", "clock", "{}"),
        ("", "clock", "{}"),
        ("", "weather", r#"{"city":"Oslo"}"#),
    ];

    let body: Vec<String> = unnamed
        .iter()
        .map(|(_, name, arguments)| {
            format!(r#"{{"index":0,"function":{{"name":"{name}","arguments":{arguments}}}}}"#)
        })
        .collect();

    let expected = |first: &'static str, second, third| {
        let [a, b, c] = unnamed;
        asks([(first, a.1, a.2), (second, b.1, b.2), (third, c.1, c.2)])
    };
    assert_eq!(
        stream_of(body.iter().map(|call| pieces(call)))
            .await
            .unwrap(),
        expected("call_1", "call_2", "call_3")
    );

    let whole = format!(
        r#"{{"choices":[{{"message":{{"tool_calls":[{}]}}}}]}}"#,
        body.join(",")
    );
    let ollama = format!(
        r#"{{"message":{{"tool_calls":[{}]}},"done":true,"done_reason":"stop"}}"#,
        body.join(",")
    );
    let server = Server::start([ok(&whole), Answer::Raw(streamed(&format!("{ollama}\n")))]).await;
    let asked = ["call_1", "call_3"].map(|id| ToolCall::new(id, "clock", "{}"));
    let request = ChatRequest::new([Message::assistant("").with_tool_calls(asked)]);
    let response = server.client().complete(request.clone()).await.unwrap();

    assert_eq!(response, expected("call_2", "call_4", "call_5"));
    let ollama = OllamaClient::builder(server.origin(), "m").build().unwrap();
    let response = ollama
        .stream(request)
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();

    assert_eq!(response, expected("call_2", "call_4", "call_5"));
}

#[tokio::test]
async fn an_id_that_is_taken_is_given_once_alone() {
    let call = r#"{"id":"call_0","function":{"name":"clock","arguments":"{}"}}"#;
    let body = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{call},{call}]}}}}]}}"#);
    let calls = outcome(ok(&body)).await.unwrap();
    assert_eq!(
        calls,
        asks([("call_0", "clock", "{}"), ("call_1", "clock", "{}")])
    );
}

#[tokio::test]
async fn lenient_in_what_a_call_may_be() {
    let cases = [
        (r#""content":null,"tool_calls":[]"#, ChatResponse::default()),
        (
            r#""content":"Hi","tool_calls":null"#,
            ChatResponse::new("Hi"),
        ),
        (r#""tool_calls":{"id":"a"}"#, ChatResponse::default()),
        (
            r#""function_call":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}"#,
            asks([("call_1", "weather", r#"{"city":"Oslo"}"#)]),
        ),
        (
            r#""function_call":{"name":"clock"},"tool_calls":[{"id":"b","function":{"name":"clock","arguments":""}}]"#,
            asks([("b", "clock", "{}")]),
        ),
        (
            r#""tool_calls":[{"id":"a","function":{"name":"weather","arguments":"{\"city\": Oslo"}}]"#,
            asks([("a", "weather", r#"{"city": Oslo"#)]),
        ),
        (r#""tool_calls":[{"id":"a"}]"#, asks([("a", "", "{}")])),
        (
            r#""content":[],"refusal":"No","tool_calls":[{"id":"a"}]"#,
            asks([("a", "", "{}")]),
        ),
    ];

    for (message, expected) in cases {
        let body = format!(r#"{{"choices":[{{"message":{{{message}}},"finish_reason":"stop"}}]}}"#);
        assert_eq!(outcome(ok(&body)).await.unwrap(), expected, "{message}");
    }

    let legacy = [
        r#""function_call":{"name":"weather","arguments":""}"#,
        r#""function_call":{"arguments":"{\"city\":\"Oslo\"}"}"#,
    ];
    let response = stream_of(legacy.map(chunk)).await.unwrap();
    assert_eq!(
        response,
        asks([("call_1", "weather", r#"{"city":"Oslo"}"#)])
    );
}

#[tokio::test]
async fn text_reasoning_and_calls_are_kept_apart() {
    let chunks = [
        chunk(r#""reasoning_content":"Hm.""#),
        chunk(r#""content":"Let me see.""#),
        pieces(r#"{"index":0,"id":"a","function":{"name":"clock","arguments":"{}"}}"#),
    ];

    let response = stream_of(chunks).await.unwrap();
    assert_eq!(
        (response.text(), response.reasoning()),
        ("Let me see.", Some("Hm."))
    );
    assert_eq!(response.tool_calls(), [ToolCall::new("a", "clock", "{}")]);
}

#[tokio::test]
async fn a_finish_reason_that_says_more_than_stop_is_kept() {
    for (reason, expected) in [
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
    ] {
        let body = format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","function":{{"name":"clock"}}}}]}},"finish_reason":"{reason}"}}]}}"#
        );
        let response = outcome(ok(&body)).await.unwrap();
        assert_eq!(
            (response.finish_reason(), response.tool_calls().len()),
            (&expected, 1)
        );
    }
}

#[tokio::test]
async fn an_interrupted_stream_gives_no_half_call() {
    let openai = [
        chunk(r#""content":"Let""#),
        pieces(r#"{"index":0,"id":"a","function":{"name":"clock","arguments":"{}"}}"#),
        pieces(r#"{"index":1,"id":"b","function":{"name":"weather","arguments":"{\"ci"}}"#),
    ];

    let anthropic = "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"Let\"}}\n\n\
        data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"weather\",\"input\":{}}}\n\n\
        data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"ci\"}}\n\n";
    let server = Server::start(
        [openai.concat(), anthropic.to_owned()].map(|body| Answer::Raw(streamed(&body))),
    )
    .await;
    let openai = OpenAiClient::builder(server.base_url(), "m")
        .build()
        .unwrap();
    let anthropic = AnthropicClient::builder(server.origin(), "m")
        .build()
        .unwrap();

    for client in [&openai as &dyn LlmClient, &anthropic] {
        let mut reply = client.stream(ChatRequest::default()).await.unwrap();
        assert_eq!(
            reply.next().await.unwrap().unwrap(),
            Delta::Text("Let".to_owned())
        );
        let error = reply.next().await.unwrap().unwrap_err();
        assert_eq!(
            (error.kind(), error.text_so_far()),
            (Kind::InterruptedStream, Some("Let"))
        );
    }
}

#[tokio::test]
async fn blocks_of_anthropic_are_calls_when_they_end() {
    let start = |block: &str| {
        format!("data: {{\"type\":\"content_block_start\",\"content_block\":{{{block}}}}}\n\n")
    };
    let more = |json: &str| {
        let json = serde_json::to_string(json).unwrap();
        format!(
            "data: {{\"type\":\"content_block_delta\",\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":{json}}}}}\n\n"
        )
    };

    let stop = "data: {\"type\":\"content_block_stop\"}\n\n".to_owned();
    let end = "data: {\"type\":\"message_stop\"}\n\n".to_owned();
    let body = [
        start(r#""type":"server_tool_use","id":"s","name":"web_search","input":{}"#),
        more(r#"{"query":"x"}"#),
        stop.clone(),
        start(r#""type":"tool_use","id":"a","name":"weather","input":{}"#),
        more(""),
        more(r#"{"city":"#),
        more(r#""Oslo"}"#),
        stop.clone(),
        start(r#""type":"tool_use","id":"b","name":"weather","input":{"city": "Bergen"}"#),
        stop,
        // Neither this one nor the one before it is told to have ended by every server.
        start(r#""type":"tool_use","id":"c","name":"clock","input":{}"#),
        start(r#""type":"tool_use","id":"d","name":"clock","input":null"#),
        end,
    ];

    let server = Server::start([Answer::Raw(streamed(&body.concat()))]).await;
    let client = AnthropicClient::builder(server.origin(), "m")
        .build()
        .unwrap();
    let (deltas, response) = follow(&client).await;
    let expected = asks([
        ("a", "weather", r#"{"city":"Oslo"}"#),
        ("b", "weather", r#"{"city": "Bergen"}"#),
        ("c", "clock", "{}"),
        ("d", "clock", "{}"),
    ]);

    assert_eq!(response.unwrap(), expected);
    assert_eq!(
        deltas,
        expected
            .tool_calls()
            .iter()
            .cloned()
            .map(Delta::ToolCall)
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn blocks_of_anthropic_may_grow_side_by_side() {
    let body = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"weather"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"clock"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"partial_json":"{\"city\":"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"partial_json":"{"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"partial_json":"\"Oslo\"}"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_delta","index":7,"delta":{"partial_json":"of no block that anybody opened"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"partial_json":"}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_stop"}"#,
    ];

    let body: String = body
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    let server = Server::start([Answer::Raw(streamed(&body))]).await;
    let client = AnthropicClient::builder(server.origin(), "m")
        .build()
        .unwrap();
    assert_eq!(follow(&client).await.1.unwrap(), asks(BOTH));
}

#[tokio::test]
async fn more_calls_than_anybody_asks_for_are_an_error() {
    let call = |n: usize| {
        format!(
            r#"{{"index":{n},"id":"a{n}","type":"tool_use","name":"clock","function":{{"name":"clock"}}}}"#
        )
    };

    let calls = |n| (0..n).map(call).collect::<Vec<_>>().join(",");
    let whole = |n| {
        let calls = calls(n);
        ok(&format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{calls}]}}}}],"content":[{calls}],"message":{{"tool_calls":[{calls}]}}}}"#
        ))
    };

    let server = Server::start([128, 128, 128, 129, 129, 129].map(whole)).await;
    let clients: [Box<dyn LlmClient>; 3] = [
        Box::new(server.client()),
        Box::new(
            AnthropicClient::builder(server.origin(), "m")
                .build()
                .unwrap(),
        ),
        Box::new(OllamaClient::builder(server.origin(), "m").build().unwrap()),
    ];

    for client in &clients {
        assert_eq!(ask(client).await.unwrap().tool_calls().len(), 128);
    }

    let complaint = "decode: the reply contains more than 128 tool calls (status 200)";
    for client in &clients {
        assert_eq!(ask(client).await.unwrap_err().to_string(), complaint);
    }

    assert_eq!(
        stream_of((0..129).map(|n| pieces(&call(n))))
            .await
            .unwrap_err()
            .to_string(),
        complaint
    );
}

#[tokio::test]
async fn a_call_without_end_stops_at_the_limit() {
    let limit = 100_000;
    let openai = pieces(&format!(
        r#"{{"index":0,"function":{{"arguments":"{}"}}}}"#,
        "x".repeat(1000)
    ));
    let anthropic = format!(
        "data: {{\"type\":\"content_block_delta\",\"delta\":{{\"partial_json\":\"{}\"}}}}\n\n",
        "x".repeat(1000)
    );
    let start =
        "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\"}}\n\n";
    let refusal = chunk(&format!(r#""refusal":"{}""#, "x".repeat(1000)));
    let server = Server::start([
        Answer::Endless("\n", openai),
        Answer::Endless("\n", refusal),
        Answer::Endless(start, anthropic),
    ])
    .await;

    let openai = || {
        OpenAiClient::builder(server.base_url(), "m")
            .with_max_response_bytes(limit)
            .build()
            .unwrap()
    };

    let anthropic = AnthropicClient::builder(server.origin(), "m")
        .with_max_response_bytes(limit)
        .build()
        .unwrap();
    for client in [&openai() as &dyn LlmClient, &openai(), &anthropic] {
        let error = follow(&client).await.1.unwrap_err();
        assert_eq!(
            error.to_string(),
            "decode: the response is over the limit of 100000 bytes (status 200)"
        );
    }
}
