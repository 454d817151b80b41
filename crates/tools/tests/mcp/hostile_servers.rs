//! Servers of tools that misbehave.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use std::time::Duration;

use cogwork_tools::ToolError;
use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};

use crate::fixture::{call, connected, offering, refused, registry, server};
use hostile::{assert_lines_are_safe, texts};

#[tokio::test]
async fn a_tool_that_cannot_be_used_is_left_out_and_the_others_are_kept() {
    let object = json!({"type": "object"});
    let tools = json!([
        {"name": "good", "inputSchema": {"$schema": "x", "properties": {"type": {"type": "string"}}}},
        {"name": "files.read/all", "inputSchema": object},
        {"name": "files_read_all", "inputSchema": object},
        {"name": "", "inputSchema": object},
        {"name": "two words\u{1b}[2J", "inputSchema": object},
        {"name": "x".repeat(65), "inputSchema": object},
        {"name": "none"},
        {"name": "text", "inputSchema": "object"},
        {"name": "array", "inputSchema": {"type": "array"}},
        {"name": "long", "inputSchema": {"description": "x".repeat(20_000)}},
        7,
    ]);
    let server = offering(&tools);

    let kept = registry(&server.clone().connect().await.unwrap());
    let shown = kept.definitions();
    let shown = shown.map(|tool| format!("{} {}", tool.name(), tool.input_schema()));
    assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
    files_read_all {"type":"object"}
    good {"properties":{"type":{"type":"string"}},"type":"object"}
    "#);

    // A call reaches a tool by its name at the server, which knows no such tool, and says so.
    let error = call(&kept, "files_read_all", json!({})).await.unwrap_err();
    assert_snapshot!(error, @"bad input for the tool `files_read_all`: Unknown tool");

    // If it was named, the reason is told.
    let mut reasons = Vec::new();
    for tool in tools.as_array().unwrap().iter().skip(3) {
        let name = tool["name"].as_str().unwrap_or_default();
        reasons.push(refused(server.clone().with_only([name])).await);
    }
    assert_snapshot!("tools_that_cannot_be_used", reasons.join("\n"));
}

#[tokio::test]
async fn there_is_a_maximum_number_of_tools() {
    let server = connected("many tools").await;
    assert_eq!(server.tools().len(), 128);

    let few = crate::fixture::server("many tools").with_only(["t250"]);
    assert_eq!(few.connect().await.unwrap().tools().len(), 1);
}

#[tokio::test]
async fn a_list_that_is_none_or_has_no_end_is_an_error() {
    assert_snapshot!(refused(server("no list")).await, @"the MCP server `fixture` answered a question for its tools without a list");

    assert_snapshot!(refused(server("endless")).await, @"the MCP server `fixture` has more than 100 pages of tools; expected fewer");
}

/// Arguments are checked by the schema of a server before a person is asked about a call.
#[tokio::test]
async fn a_hostile_schema_neither_hangs_nor_loads_anything() {
    let doubling = |level: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        (format!("d{level}"), json!({"allOf": [next, next]}))
    };
    let mut definitions: Map<String, Value> = (0..40).map(doubling).collect();
    definitions.insert("d40".to_owned(), json!({"type": "object"}));

    let schemas = json!([
        {"type": "object", "required": ["path"]},
        {"type": "object", "$ref": "#"},
        {"type": "object", "$ref": "http://127.0.0.1:1/schema.json"},
        {"type": "object", "properties": {"path": {"pattern": "(a+)+$"}}},
        {"type": "object", "properties": {"path": {"pattern": "("}}},
        {"type": "object", "$ref": "#/$defs/d0", "$defs": definitions},
    ]);
    let named = schemas.as_array().unwrap().iter().enumerate();
    let tools = named.map(|(n, schema)| json!({"name": format!("t{n}"), "inputSchema": schema}));
    let tools = registry(&offering(&tools.collect()).connect().await.unwrap());

    let input = json!({"path": "a".repeat(40) + "!"});
    let checked = tools.names().map(|name| match tools.check(name, &input) {
        Ok(()) => format!("{name} ok"),
        Err(error) => error.to_string(),
    });
    assert_snapshot!(checked.collect::<Vec<_>>().join("\n"), @r"
    t0 ok
    bad input for the tool `t1`: at '': both '/$ref' and '' resolve to urn:schema# causing reference cycle
    t2 ok
    bad input for the tool `t3`: at '/path': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' does not match pattern '(a+)+$'
    t4 ok
    t5 ok
    ");

    // No arguments are those of an empty object.
    assert!(tools.check("t2", &json!(null)).is_ok());
    for input in [json!(null), json!({"paht": "/"})] {
        let error = tools.check("t0", &input).unwrap_err().to_string();
        assert!(error.ends_with("missing properties 'path'"), "{error}");
    }
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
async fn a_message_that_is_too_long_is_skipped() {
    let server = server("normal").with_timeout(Duration::from_secs(5));
    let tools = registry(&server.connect().await.unwrap());

    let fits = call(&tools, "huge", json!({"bytes": 9_000})).await;
    assert_eq!(fits.unwrap().len(), 9_000);
    let pid = call(&tools, "pid", json!({})).await;

    let error = call(&tools, "huge", json!({"bytes": 17 << 20})).await;
    assert_eq!(error.unwrap_err(), "the tool `huge` took longer than 5s");
    assert_eq!(call(&tools, "pid", json!({})).await, pid);
}

#[tokio::test]
async fn nothing_unsafe_is_shown() {
    let tools = registry(&connected("normal").await);

    for text in texts() {
        let message = json!({ "message": text });
        if let Err(error) = tools.call_with("fail", None, message).await {
            assert_lines_are_safe(&error);
        }

        let content = json!([{"type": "text", "text": text}]);
        let failed = json!({"reply": {"content": content, "isError": true}});
        let error: ToolError = tools.call_with("reply", None, failed).await.unwrap_err();
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

#[tokio::test]
async fn any_result_becomes_a_text_or_an_error() {
    let tools = registry(&connected("normal").await);
    let pid = call(&tools, "pid", json!({})).await.unwrap();
    let mut runner = proptest::test_runner::TestRunner::deterministic();

    for _ in 0..300 {
        let reply = json().new_tree(&mut runner).unwrap().current();
        let called = call(&tools, "reply", json!({ "reply": reply })).await;
        let (Ok(text) | Err(text)) = called;
        assert!(!text.is_empty() && text.len() < 20_000, "{reply}");
    }

    // The connection has survived.
    assert_eq!(call(&tools, "pid", json!({})).await.unwrap(), pid);
}

#[tokio::test]
async fn any_list_leaves_only_tools_that_a_registry_takes() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();

    for _ in 0..30 {
        let list = prop::collection::vec(json(), 0..8);
        let list = Value::from(list.new_tree(&mut runner).unwrap().current());
        registry(&offering(&list).connect().await.unwrap());
    }
}
