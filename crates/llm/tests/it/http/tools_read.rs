//! Calls that a model asks for: what is read of them, complete and in pieces, and of servers that are
//! only nearly what the protocol says.

use cogwork_llm::{ChatRequest, Delta, LlmErrorKind as Kind, Message, ToolCall};

use crate::http::support::{Protocol, Server, ask, check_replies, completion, ok, told};

/// A chunk with this in its delta.
fn chunk(delta: &str) -> String {
    let choices = format!(r#"{{"choices":[{{"index":0,"delta":{{{delta}}}}}]}}"#);
    Protocol::Chat.event(&choices)
}

/// A chunk with these pieces of calls.
fn pieces(calls: &str) -> String {
    chunk(&format!("\"tool_calls\":[{calls}]"))
}

/// The events of these lines.
fn events(lines: &str) -> String {
    let lines = lines.trim().lines();
    lines
        .map(|event| Protocol::Messages.event(event.trim()))
        .collect()
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
    let message = format!(r#"{{"tool_calls":[{}]}}"#, calls.join(","));
    let ollama = ok(&format!("{{\"message\":{message},\"done\":true}}\n"));
    for (protocol, answer) in [
        (Protocol::Chat, completion(&message)),
        (Protocol::Ollama, ollama),
    ] {
        let server = Server::start([answer.clone(), answer]).await;
        let client = protocol.client(&server);
        let whole = client.complete(request.clone()).await;
        let streamed = client.stream(request.clone()).await.unwrap();
        let streamed = streamed.collect().await;
        for reply in [whole, streamed] {
            assert_eq!(told(reply), expected(["call_2", "call_4", "call_5"]));
        }
    }
}

#[tokio::test]
async fn lenient_in_what_a_call_may_be() {
    let table = r#"
        "content":null,"tool_calls":[] => "" Stop
        "content":"Hi","tool_calls":null => "Hi" Stop
        "tool_calls":{"id":"a"} => "" Stop
        "tool_calls":[{"id":"a","function":{"name":"weather","arguments":"{\"city\": Oslo"}}] => "" ToolCalls called weather a {"city": Oslo
        "tool_calls":[{"id":"a"}] => "" ToolCalls called  a {}
        "tool_calls":[{"id":"a"},{"id":"a"}] => "" ToolCalls called  a {} called  call_1 {}
        "content":[],"refusal":"No","tool_calls":[{"id":"a"}] => "" ToolCalls called  a {}
        "content":"Let me see.","reasoning":"Hm.","tool_calls":[{"id":"a","function":{"name":"clock"}}] => "Let me see." ToolCalls thought "Hm." called clock a {}
        "tool_calls":[{"id":"a","function":{"name":"clock"}}]},"finish_reason":"length"},{"x":{ => "" Length called clock a {}
        "tool_calls":[{"id":"a","function":{"name":"clock"}}]},"finish_reason":"content_filter"},{"x":{ => "" ContentFilter called clock a {}
    "#;
    let reply = r#"{"choices":[{"message":{$},"finish_reason":"stop"}]}"#;
    check_replies(Protocol::Chat, reply, table).await;

    let table = r#"
        {"type":"function_call","call_id":"a","name":"clock","arguments":""} => "" ToolCalls called clock a {}
        {"type":"function_call","name":"weather","arguments":"{\"city\": Oslo"} => "" ToolCalls called weather call_1 {"city": Oslo
        {"type":"function_call","arguments":7},{"type":"function_call"} => "" ToolCalls called  call_1 {} called  call_2 {}
    "#;
    check_replies(Protocol::Responses, r#"{"output":[$]}"#, table).await;

    let table = r#"
        {"type":"tool_use","id":"a","name":"weather","input":{"b": 1, "a": 2}} => "" ToolCalls called weather a {"b": 1, "a": 2}
        {"type":"tool_use","id":"a","name":"clock","input":null},{"type":"tool_use"} => "" ToolCalls called clock a {} called  call_1 {}
        {"type":"tool_use","id":"a","name":"clock","input":"{}"},{"type":"server_tool_use","id":"s"} => "" ToolCalls called clock a {}
    "#;
    let reply = r#"{"content":[$],"stop_reason":"tool_use"}"#;
    check_replies(Protocol::Messages, reply, table).await;
}

#[tokio::test]
async fn an_interrupted_stream_gives_no_half_call() {
    let chat = chunk(r#""content":"Let""#)
        + &pieces(r#"{"index":0,"id":"a","function":{"name":"clock","arguments":"{}"}}"#)
        + &pieces(r#"{"index":1,"id":"b","function":{"name":"weather","arguments":"{\"ci"}}"#);
    let responses = events(
        r#"
        {"type":"response.output_text.delta","delta":"Let"}
        {"type":"response.output_item.added","item":{"type":"function_call","call_id":"b","name":"weather"}}
        {"type":"response.function_call_arguments.delta","delta":"{\"ci"}
    "#,
    );
    let messages = events(
        r#"
        {"type":"content_block_delta","delta":{"text":"Let"}}
        {"type":"content_block_start","content_block":{"type":"tool_use","id":"b","name":"weather","input":{}}}
        {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"ci"}}
    "#,
    );

    for (protocol, body) in Protocol::ALL.into_iter().zip([chat, responses, messages]) {
        let (deltas, response) = protocol.events(&body).await;
        assert_eq!(deltas, [Delta::Text("Let".to_owned())]);
        assert_eq!(response.unwrap_err().kind(), Kind::InterruptedStream);
    }
}

#[tokio::test]
async fn blocks_of_anthropic_are_calls_when_they_end() {
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
    insta::assert_snapshot!(told(Ok(response)), @r#""" ToolCalls called weather a {"city":"Oslo"} called weather b {"city": "Bergen"} called clock c {} called clock d {}"#);

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
    let complaint = "the reply contains more than 128 tool calls";
    for protocol in Protocol::ALL {
        let kind = if protocol == Protocol::Responses {
            "function_call"
        } else {
            "tool_use"
        };
        let call = |n| {
            format!(
                r#"{{"index":{n},"id":"a{n}","call_id":"a{n}","type":"{kind}","function":{{"name":"clock"}}}}"#
            )
        };
        let reply = |count: usize| {
            let calls = (0..count).map(call).collect::<Vec<_>>().join(",");
            let message = format!(r#"{{"tool_calls":[{calls}]}}"#);
            ok(&format!(
                r#"{{"choices":[{{"message":{message}}}],"content":[{calls}],"output":[{calls}],"message":{message}}}"#
            ))
        };
        let server = Server::start([128, 129].map(reply)).await;
        let client = protocol.client(&server);
        assert_eq!(ask(&client).await.unwrap().tool_calls().len(), 128);
        assert_eq!(ask(&client).await.unwrap_err().message(), complaint);
    }

    let one = |n| pieces(&format!(r#"{{"id":"{n}","function":{{"name":"a"}}}}"#));
    let many: String = (0..129).map(one).collect();
    let error = Protocol::Chat.events(&many).await.1.unwrap_err();
    assert_eq!(error.message(), complaint);
}
