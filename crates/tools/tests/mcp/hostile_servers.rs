//! Servers of tools that misbehave.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use std::sync::atomic::{AtomicU32, Ordering};

use cogwork_tools::mcp::McpTools;
use cogwork_tools::{ToolError, Tools};
use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};

use crate::fixture::{call, connected, registry, server};
use hostile::{assert_lines_are_safe, texts};

/// Lets the server offer these tools, in addition to two others, and waits until the list is
/// refreshed.
async fn offer(server: &McpTools, tools: &Tools, offered: &Value) {
    static OFFERS: AtomicU32 = AtomicU32::new(0);
    let marker = format!("marker{}", OFFERS.fetch_add(1, Ordering::Relaxed));

    let added = ["tools", marker.as_str()];
    let added = added.map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
    let list: Vec<_> = added.iter().chain(offered.as_array().unwrap()).collect();

    call(tools, "tools", json!({ "tools": list }))
        .await
        .unwrap();
    while !registry(server).names().any(|name| name == marker) {
        tokio::task::yield_now().await;
    }
}

fn deep(levels: usize) -> Value {
    (1..levels).fold(json!({}), |inner, _| json!({ "properties": inner }))
}

#[tokio::test]
async fn a_tool_that_cannot_be_used_is_refused_and_the_others_are_kept() {
    let server = connected("normal").await;
    let tools = registry(&server);
    let object = json!({"type": "object"});
    offer(
        &server,
        &tools,
        &json!([
            {"name": "good", "inputSchema": {"$schema": "x", "properties": {"type": {"type": "string"}}}},
            {"name": "files.read/all", "inputSchema": object},
            {"name": "files_read_all", "inputSchema": object},
            {"name": "", "inputSchema": object},
            {"name": "two words\u{1b}[2J", "inputSchema": object},
            {"name": "x".repeat(65), "inputSchema": object},
            {"name": "none"},
            {"name": "text", "inputSchema": "object"},
            {"name": "array", "inputSchema": {"type": "array"}},
            {"name": "deepest", "inputSchema": deep(32)},
            {"name": "deeper", "inputSchema": deep(33)},
            {"name": "long", "inputSchema": {"description": "x".repeat(20_000)}},
            7,
        ]),
    )
    .await;

    let tools = registry(&server);
    let names: Vec<_> = tools.names().collect();
    assert!(names[3].starts_with("marker"));
    assert_eq!(names[..3], ["deepest", "files_read_all", "good"]);
    let good = tools
        .definitions()
        .find(|tool| tool.name() == "good")
        .unwrap();
    assert_eq!(
        good.input_schema(),
        r#"{"properties":{"type":{"type":"string"}},"type":"object"}"#
    );

    let refused = server.refused();
    let lines: Vec<_> = refused
        .iter()
        .map(|tool| format!("{}: {}", tool.name, tool.reason))
        .collect();
    assert_snapshot!(lines.join("\n"), @r"
    files_read_all: there is already a tool `files_read_all`
    : `` is not a valid tool name; expected 1 to 64 letters, digits, `_`, `-`, `.` and `/`
    two words�[2J: `two words\u{1b}[2J` is not a valid tool name; expected 1 to 64 letters, digits, `_`, `-`, `.` and `/`
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` is not a valid tool name; expected 1 to 64 letters, digits, `_`, `-`, `.` and `/`
    none: it has no input schema
    text: its input schema isn't a JSON object
    array: its input schema isn't that of an object
    deeper: its input schema is nested deeper than 32 levels
    long: its input schema has 20034 bytes; expected at most 16384
    : `` is not a valid tool name; expected 1 to 64 letters, digits, `_`, `-`, `.` and `/`
    ");
}

#[tokio::test]
async fn a_call_reaches_a_tool_by_its_name_at_the_server() {
    let server = connected("normal").await;
    let tools = registry(&server);
    offer(
        &server,
        &tools,
        &json!([{"name": "no.such", "inputSchema": {"type": "object"}}]),
    )
    .await;

    // The server knows no such tool, and says so.
    let error = call(&registry(&server), "no_such", json!({})).await;
    assert_eq!(
        error.unwrap_err(),
        "bad input for the tool `no_such`: Unknown tool"
    );
}

#[tokio::test]
async fn there_is_a_maximum_number_of_tools() {
    let server = connected("many tools").await;
    assert_eq!(server.tools().len(), 128);
    assert_eq!(server.refused().len(), 100);
    let reason = &server.refused()[0].reason;
    assert_snapshot!(reason, @"there are too many tools; expected at most 128, or the names of those to use");

    let few = crate::fixture::server("many tools")
        .with_only(["t250"])
        .connect()
        .await;
    assert_eq!(few.unwrap().tools().len(), 1);
}

#[tokio::test]
async fn a_list_that_is_none_or_has_no_end_is_an_error() {
    let none = server("no list").connect().await.unwrap_err();
    assert_snapshot!(none, @"the MCP server `fixture` answered a question for its tools without a list");

    let endless = server("endless").connect().await.unwrap_err();
    assert_snapshot!(endless, @"the MCP server `fixture` has more than 100 pages of tools; expected fewer");
}

#[tokio::test]
async fn garbage_between_messages_is_ignored() {
    let tools = registry(&connected("garbage").await);
    for _ in 0..3 {
        let said = call(&tools, "echo", json!({})).await;
        assert_eq!(said.as_deref(), Ok("{}"));
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_closes_the_connection() {
    let tools = registry(&connected("normal").await);

    let fits = call(&tools, "huge", json!({"bytes": 9_000})).await;
    assert_eq!(fits.unwrap().len(), 9_000);
    let pid = call(&tools, "pid", json!({})).await.unwrap();

    let error = call(&tools, "huge", json!({"bytes": 9 << 20}))
        .await
        .unwrap_err();
    assert_snapshot!(error, @"the tool `huge` is not available: the MCP server `fixture` sent a message of more than 8388608 bytes, so the connection was closed");

    // The server is started again.
    assert_ne!(call(&tools, "pid", json!({})).await.unwrap(), pid);
}

#[tokio::test]
async fn nothing_unsafe_is_shown() {
    let tools = registry(&connected("normal").await);

    for text in texts() {
        let message = json!({ "message": text });
        if let Err(error) = tools.call_with("fail", message).await {
            assert_lines_are_safe(&error);
        }

        let content = json!([{"type": "text", "text": text}]);
        let failed = json!({"reply": {"content": content, "isError": true}});
        let error: ToolError = tools.call_with("reply", failed).await.unwrap_err();
        assert_lines_are_safe(&error);

        let named = server("no list").with_name(text.clone());
        assert_lines_are_safe(&named.connect().await.unwrap_err());
        let missing = server("normal").with_only([text]);
        assert_lines_are_safe(&missing.connect().await.unwrap_err());
    }
}

/// Any JSON, with the keys that mean something in results and lists more often than others.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["text", "image", "object", "input_required", "task"])
            .prop_map(Value::from),
    ];
    let key = prop_oneof![
        3 => prop::sample::select(vec![
            "content", "type", "text", "data", "mimeType", "resource", "uri", "isError", "tools",
            "structuredContent", "resultType", "name", "inputSchema", "properties", "nextCursor",
        ])
        .prop_map(str::to_owned),
        1 => ".{0,8}",
    ];

    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Runs the cases with one server, because each start takes a few milliseconds.
fn with_server(check: impl AsyncFn(&McpTools, &Tools)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let server = connected("normal").await;
        check(&server, &registry(&server)).await;
    });
}

#[test]
fn any_result_becomes_a_text_or_an_error() {
    with_server(async |_, tools| {
        let pid = call(tools, "pid", json!({})).await.unwrap();
        let mut runner = proptest::test_runner::TestRunner::deterministic();

        for _ in 0..300 {
            let reply = json().new_tree(&mut runner).unwrap().current();
            let called = call(tools, "reply", json!({ "reply": reply })).await;
            let (Ok(text) | Err(text)) = called;
            assert!(!text.is_empty() && text.len() < 20_000, "{reply}");
        }

        // The connection has survived.
        assert_eq!(call(tools, "pid", json!({})).await.unwrap(), pid);
    });
}

#[test]
fn any_list_leaves_only_tools_that_a_registry_takes() {
    with_server(async |server, tools| {
        let mut runner = proptest::test_runner::TestRunner::deterministic();

        for _ in 0..100 {
            let list = prop::collection::vec(json(), 0..8);
            let list = Value::from(list.new_tree(&mut runner).unwrap().current());
            // The helper makes a registry of whatever was listed.
            offer(server, tools, &list).await;
        }
    });
}
