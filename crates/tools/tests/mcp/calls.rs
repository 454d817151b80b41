use std::time::Duration;

use cogwork_tools::Tools;
use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{call, connected, refused, registry, server};

#[tokio::test]
async fn the_new_generation_of_the_protocol_is_spoken() {
    let tools = registry(&connected("sdk").await);

    let era = call(&tools, "era", json!({})).await.unwrap();
    assert!(era.contains("2026-07-28"), "{era}");
    let said = call(&tools, "say", json!({"text": "hello"})).await;
    assert_eq!(said.as_deref(), Ok("hello"));
}

#[tokio::test]
async fn texts_are_passed_on_and_data_is_described() {
    let tools = registry(&connected("normal").await);
    let reply = json!({"reply": {"content": [
        {"type": "text", "text": "two\nlines"},
        {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
        {"type": "audio", "data": "aGVsbG8h", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///b.bin", "mimeType": "a/b", "blob": "aGk="}},
        {"type": "resource_link", "uri": "file:///c", "name": "c", "mimeType": "text/plain", "size": 3},
    ]}});

    assert_snapshot!(call(&tools, "reply", reply).await.unwrap(), @r"
    two
    lines
    [image image/png]
    [audio audio/wav]
    [resource file:///a.txt]
    inside
    [resource file:///b.bin a/b]
    [resource_link file:///c c text/plain]
    ");
}

#[tokio::test]
async fn structured_content_is_passed_on_unless_there_is_a_text() {
    let tools = registry(&connected("normal").await);
    let structured =
        |content| json!({"reply": {"content": content, "structuredContent": {"a": 1}}});
    let text = |text: &str| json!([{"type": "text", "text": text}]);

    for (reply, expected) in [
        (structured(json!([])), r#"{"a":1}"#),
        (structured(text("{ \"a\": 1 }")), "{ \"a\": 1 }"),
        (structured(text("one")), "one"),
        (json!({"reply": {"content": []}}), "[no content]"),
    ] {
        let said = call(&tools, "reply", reply).await;
        assert_eq!(said.as_deref(), Ok(expected));
    }
}

#[tokio::test]
async fn errors_of_tools_and_of_the_protocol_are_told_apart() {
    let tools = registry(&connected("normal").await);
    let content = json!([{"type": "text", "text": "no such file"}]);
    let mut told = Vec::new();
    for (tool, input) in [
        (
            "reply",
            json!({"reply": {"content": content, "isError": true}}),
        ),
        (
            "fail",
            json!({"code": -32602, "message": "expected a path"}),
        ),
        ("fail", json!({"code": -32603, "message": "internal"})),
        ("reply", json!({"reply": [1]})),
        (
            "reply",
            json!({"reply": {"resultType": "input_required", "inputRequests": {}, "requestState": "s"}}),
        ),
    ] {
        told.push(call(&tools, tool, input).await.unwrap_err());
    }
    assert_snapshot!(told.join("\n"), @"
    the tool `reply` failed: no such file
    bad input for the tool `fail`: expected a path
    the tool `fail` is not available: the MCP server `fixture` answered with the error -32603 during the call: internal
    the tool `reply` is not available: the MCP server `fixture` sent an answer of an unknown form during the call
    the tool `reply` is not available: it asks for input or wants to answer later, which isn't supported
    ");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled_at_the_server() {
    for mode in ["normal", "sdk"] {
        let (slow, cancelled, expected) = match mode {
            "sdk" => ("wait", "was_cancelled", "true"),
            _ => ("slow", "cancelled", "1"),
        };
        let limit = Duration::from_secs(1);
        let server = server(mode).with_timeout(limit).connect().await.unwrap();
        let tools = registry(&server);

        let error = call(&tools, slow, json!({})).await.unwrap_err();
        assert_eq!(error, format!("the tool `{slow}` took longer than 1s"));
        let seen = call(&tools, cancelled, json!({})).await;
        assert_eq!(seen.as_deref(), Ok(expected), "{mode}");

        // The timeout of the registry drops the call, which has the same effect.
        let hurried = tools.clone().with_timeout(limit / 2);
        let error = call(&hurried, slow, json!({})).await.unwrap_err();
        assert_eq!(error, format!("the tool `{slow}` took longer than 500ms"));
        if mode == "normal" {
            let seen = call(&tools, cancelled, json!({})).await;
            assert_eq!(seen.as_deref(), Ok("2"));
        }
    }
}

#[tokio::test]
async fn only_named_tools_are_offered_with_their_prefix() {
    let server = server("normal")
        .with_only(["echo", "pid"])
        .with_prefix("raw_");

    let connected = server.clone().connect().await.unwrap();
    let tools = registry(&connected);
    assert_eq!(tools.names().collect::<Vec<_>>(), ["raw_echo", "raw_pid"]);
    let said = call(&tools, "raw_echo", json!({"a": 1})).await;
    assert_eq!(said.as_deref(), Ok(r#"{"a":1}"#));

    assert_snapshot!(refused(server.with_only(["echo", "ecko"])).await, @"the MCP server `fixture` has no tool `ecko`; expected `echo`, `reply`, `die`, `slow`, `cancelled`, `fail`, `huge`, `env`, `pid` or `child`");
}

#[tokio::test]
async fn named_tools_can_be_registered_before_the_server_is_started() {
    let server = server("normal").with_only(["echo"]).unconnected();
    let tools = Tools::new().with_all(server.tools()).unwrap();
    assert_snapshot!(tools.ready().unwrap_err(), @"the tool `echo` is not available: the MCP server `fixture` isn't connected; connect it first");

    server.connect().await.unwrap();
    assert!(tools.ready().is_ok());
    let definition = tools.definitions().next().unwrap();
    assert_eq!(definition.description(), "Does echo.");
    assert_eq!(definition.input_schema(), r#"{"type":"object"}"#);
}
