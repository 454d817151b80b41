//! Calls that a model asks for: what is read of them, complete and in pieces, and of servers that are
//! only nearly what the protocol says.

use cogwork_llm::{ChatRequest, Delta, LlmErrorKind as Kind, Message, ToolCall};

use crate::http::support::{Answer, Protocol, Server, ask, ok, outcome, streamed, told};
use crate::table::check;

/// A chunk with this in its delta.
fn chunk(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n")
}

/// A chunk with these pieces of calls.
fn pieces(calls: &str) -> String {
    chunk(&format!("\"tool_calls\":[{calls}]"))
}

/// What is read of these chunks.
async fn read(chunks: impl IntoIterator<Item = String>) -> String {
    let body: String = chunks.into_iter().collect();
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    told(Protocol::Chat.events(&(body + end)).await.1)
}

const BOTH: &str = r#""" ToolCalls called weather a {"city":"Oslo"} called clock b {}"#;

/// The pieces of two calls; a blank line ends a reply, and each line is a chunk.
const PIECES: &str = r#"
{"index":0,"id":"a","type":"function","function":{"name":"weather","arguments":""}}
{"index":0,"function":{"arguments":"{\"city\":"}}
{"index":0,"function":{"arguments":"\"Oslo\"}"}}
{"index":1,"id":"b","type":"function","function":{"name":"clock","arguments":"{}"}}

{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"city\""}},{"index":1,"id":"b","function":{"name":"clock","arguments":"{"}}
{"index":1,"function":{"arguments":"}"}}
{"index":0,"function":{"arguments":":\"Oslo\"}"}}

{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"city\":"}}
{"index":0,"id":"a","function":{"name":"weather","arguments":"\"Oslo\"}"}}
{"index":1,"id":"b","function":{"name":"clock","arguments":"{"}}
{"index":1,"id":"b","function":{"name":"clock","arguments":"}"}}

{"index":0,"id":"a","function":{"name":"weather"}}
{"index":0,"id":"x","function":{"arguments":"{\"city\":\"Oslo\"}"}}
{"index":1,"id":"b","function":{"name":"clock"}}
{"index":1,"id":"y","function":{"arguments":"{}"}}

{"id":"a","function":{"name":"weather","arguments":"{\"city\":"}}
{"id":"a","function":{"arguments":"\"Os"}}
{"function":{"arguments":"lo\"}"}}
{"id":"b","function":{"name":"clock","arguments":"{}"}}

{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}
{"index":0,"id":"b","function":{"name":"clock","arguments":"{}"}}

{"id":"a","function":{"name":"weather","arguments":{"city":"Oslo"}}},{"id":"b","function":{"name":"clock","arguments":{}}}

null,7,{},{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}
{"index":0,"function":{"name":null,"arguments":null}},{"index":1,"id":"b","function":{"name":"clock"}}
"#;

#[tokio::test]
async fn pieces_find_their_calls() {
    for reply in PIECES.trim().split("\n\n") {
        assert_eq!(read(reply.lines().map(pieces)).await, BOTH, "{reply}");
    }
}

#[tokio::test]
async fn calls_get_ids_that_the_conversation_has_not() {
    let calls = ["clock", "clock", "weather"]
        .map(|name| format!(r#"{{"index":0,"function":{{"name":"{name}","arguments":{{}}}}}}"#));
    let expected = |[a, b, c]: [&str; 3]| {
        format!(
            "\"\" ToolCalls called clock {a} {{}} called clock {b} {{}} called weather {c} {{}}"
        )
    };
    let streamed_calls = read(calls.iter().map(|call| pieces(call))).await;
    assert_eq!(streamed_calls, expected(["call_1", "call_2", "call_3"]));

    let asked = ["call_1", "call_3"].map(|id| ToolCall::new(id, "clock", "{}"));
    let request = ChatRequest::new([Message::assistant("").with_tool_calls(asked)]);
    let calls = calls.join(",");
    let chat = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{calls}]}}}}]}}"#);
    let ollama = format!("{{\"message\":{{\"tool_calls\":[{calls}]}},\"done\":true}}\n");
    for (protocol, body) in [(Protocol::Chat, chat), (Protocol::Ollama, ollama)] {
        let server = Server::start([ok(&body), ok(&body)]).await;
        let client = protocol.client(&server);
        let whole = client.complete(request.clone()).await;
        let streamed = client
            .stream(request.clone())
            .await
            .unwrap()
            .collect()
            .await;
        assert_eq!(told(whole), expected(["call_2", "call_4", "call_5"]));
        assert_eq!(told(streamed), expected(["call_2", "call_4", "call_5"]));
    }
}

#[tokio::test]
async fn lenient_in_what_a_call_may_be() {
    let table = r#"
        "content":null,"tool_calls":[] => "" Stop
        "content":"Hi","tool_calls":null => "Hi" Stop
        "tool_calls":{"id":"a"} => "" Stop
        "function_call":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"} => "" ToolCalls called weather call_1 {"city":"Oslo"}
        "function_call":{"name":"clock"},"tool_calls":[{"id":"b","function":{"name":"clock","arguments":""}}] => "" ToolCalls called clock b {}
        "tool_calls":[{"id":"a","function":{"name":"weather","arguments":"{\"city\": Oslo"}}] => "" ToolCalls called weather a {"city": Oslo
        "tool_calls":[{"id":"a"}] => "" ToolCalls called  a {}
        "tool_calls":[{"id":"a"},{"id":"a"}] => "" ToolCalls called  a {} called  call_1 {}
        "content":[],"refusal":"No","tool_calls":[{"id":"a"}] => "" ToolCalls called  a {}
        "content":"Let me see.","reasoning":"Hm.","tool_calls":[{"id":"a","function":{"name":"clock"}}] => "Let me see." ToolCalls thought "Hm." called clock a {}
    "#;
    check(table, async |message| {
        let choice = format!(r#"{{"message":{{{message}}},"finish_reason":"stop"}}"#);
        told(outcome(ok(&format!(r#"{{"choices":[{choice}]}}"#))).await)
    })
    .await;

    let legacy = [
        r#""function_call":{"name":"weather","arguments":""}"#,
        r#""function_call":{"arguments":"{\"city\":\"Oslo\"}"}"#,
    ];
    let expected = r#""" ToolCalls called weather call_1 {"city":"Oslo"}"#;
    assert_eq!(read(legacy.map(chunk)).await, expected);

    let table = r#"
        {"type":"function_call","call_id":"a","name":"clock","arguments":""} => "" ToolCalls called clock a {}
        {"type":"function_call","name":"weather","arguments":"{\"city\": Oslo"} => "" ToolCalls called weather call_1 {"city": Oslo
        {"type":"function_call","arguments":7},{"type":"function_call"} => "" ToolCalls called  call_1 {} called  call_2 {}
    "#;
    check(table, async |items| {
        let body = format!(r#"{{"output":[{items}]}}"#);
        told(Protocol::Responses.outcome(ok(&body)).await)
    })
    .await;

    let table = r#"
        {"type":"tool_use","id":"a","name":"weather","input":{"b": 1, "a": 2}} => "" ToolCalls called weather a {"b": 1, "a": 2}
        {"type":"tool_use","id":"a","name":"clock","input":null},{"type":"tool_use"} => "" ToolCalls called clock a {} called  call_1 {}
        {"type":"tool_use","id":"a","name":"clock","input":"{}"},{"type":"server_tool_use","id":"s"} => "" ToolCalls called clock a {}
    "#;
    check(table, async |blocks| {
        let body = format!(r#"{{"content":[{blocks}],"stop_reason":"tool_use"}}"#);
        told(Protocol::Messages.outcome(ok(&body)).await)
    })
    .await;
}

#[tokio::test]
async fn a_finish_reason_that_says_more_than_stop_is_kept() {
    let table = r#"
        length => "" Length called clock a {}
        content_filter => "" ContentFilter called clock a {}
    "#;
    check(table, async |reason| {
        let call = r#"{"tool_calls":[{"id":"a","function":{"name":"clock"}}]}"#;
        let choice = format!(r#"{{"message":{call},"finish_reason":"{reason}"}}"#);
        told(outcome(ok(&format!(r#"{{"choices":[{choice}]}}"#))).await)
    })
    .await;
}

#[tokio::test]
async fn an_interrupted_stream_gives_no_half_call() {
    let chat = chunk(r#""content":"Let""#)
        + &pieces(r#"{"index":0,"id":"a","function":{"name":"clock","arguments":"{}"}}"#)
        + &pieces(r#"{"index":1,"id":"b","function":{"name":"weather","arguments":"{\"ci"}}"#);
    let responses = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Let\"}\n\n\
        data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"call_id\":\"b\",\"name\":\"weather\"}}\n\n\
        data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\\\"ci\"}\n\n";
    let messages = "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"Let\"}}\n\n\
        data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"weather\",\"input\":{}}}\n\n\
        data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"ci\"}}\n\n";

    for (protocol, body) in [
        (Protocol::Chat, chat.as_str()),
        (Protocol::Responses, responses),
        (Protocol::Messages, messages),
    ] {
        let (deltas, response) = protocol.events(body).await;
        assert_eq!(deltas, [Delta::Text("Let".to_owned())]);
        assert_eq!(response.unwrap_err().kind(), Kind::InterruptedStream);
    }
}

#[tokio::test]
async fn blocks_of_anthropic_are_calls_when_they_end() {
    let events = |events: &str| -> String {
        let lines = events.trim().lines();
        lines
            .map(|event| format!("data: {}\n\n", event.trim()))
            .collect()
    };
    let in_turn = events(
        r#"
        {"type":"content_block_start","content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}
        {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"query\":\"x\"}"}}
        {"type":"content_block_stop"}
        {"type":"content_block_start","content_block":{"type":"tool_use","id":"a","name":"weather","input":{}}}
        {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}
        {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"\"Oslo\"}"}}
        {"type":"content_block_stop"}
        {"type":"content_block_start","content_block":{"type":"tool_use","id":"b","name":"weather","input":{"city": "Bergen"}}}
        {"type":"content_block_stop"}
        {"type":"content_block_start","content_block":{"type":"tool_use","id":"c","name":"clock","input":{}}}
        {"type":"content_block_start","content_block":{"type":"tool_use","id":"d","name":"clock","input":null}}
        {"type":"message_stop"}
        "#,
    );
    let (deltas, response) = Protocol::Messages.events(&in_turn).await;
    let response = response.unwrap();
    let calls = response.tool_calls().iter().cloned().map(Delta::ToolCall);
    assert_eq!(deltas, calls.collect::<Vec<_>>());
    assert_eq!(
        told(Ok(response)),
        r#""" ToolCalls called weather a {"city":"Oslo"} called weather b {"city": "Bergen"} called clock c {} called clock d {}"#
    );

    let side_by_side = events(
        r#"
        {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"weather"}}
        {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"clock"}}
        {"type":"content_block_delta","index":0,"delta":{"partial_json":"{\"city\":"}}
        {"type":"content_block_delta","index":1,"delta":{"partial_json":"{"}}
        {"type":"content_block_delta","index":0,"delta":{"partial_json":"\"Oslo\"}"}}
        {"type":"content_block_stop","index":0}
        {"type":"content_block_delta","index":7,"delta":{"partial_json":"of no block that anybody opened"}}
        {"type":"content_block_delta","index":1,"delta":{"partial_json":"}"}}
        {"type":"content_block_stop","index":1}
        {"type":"message_stop"}
        "#,
    );
    assert_eq!(told(Protocol::Messages.events(&side_by_side).await.1), BOTH);
}

#[tokio::test]
async fn more_calls_than_anybody_asks_for_are_an_error() {
    let body = |count: usize, kind: &str| {
        let call = |n| {
            format!(
                r#"{{"index":{n},"id":"a{n}","call_id":"a{n}","type":"{kind}","name":"clock","function":{{"name":"clock"}}}}"#
            )
        };
        let calls = (0..count).map(call).collect::<Vec<_>>().join(",");
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{calls}]}}}}],"content":[{calls}],"output":[{calls}],"message":{{"tool_calls":[{calls}]}}}}"#
        )
    };

    let complaint = "the reply contains more than 128 tool calls";
    for protocol in Protocol::ALL {
        let kind = match protocol {
            Protocol::Responses => "function_call",
            _ => "tool_use",
        };
        let server = Server::start([128, 129].map(|count| ok(&body(count, kind)))).await;
        let client = protocol.client(&server);
        assert_eq!(ask(&client).await.unwrap().tool_calls().len(), 128);
        assert_eq!(ask(&client).await.unwrap_err().message(), complaint);
    }

    let endless =
        pieces(r#"{"id":"a","function":{"name":"a"}},{"id":"b","function":{"name":"b"}}"#);
    let many: String = (0..65)
        .map(|n| endless.replace("\"id\":\"", &format!("\"id\":\"{n}")))
        .collect();
    let server = Server::start([Answer::Raw(streamed(&many))]).await;
    let reply = Protocol::Chat
        .client(&server)
        .stream(ChatRequest::default())
        .await
        .unwrap();
    assert_eq!(reply.collect().await.unwrap_err().message(), complaint);
}
