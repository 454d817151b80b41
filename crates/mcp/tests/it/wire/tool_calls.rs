//! Calls of tools have a reader of their own, which must read what rmcp reads.

use cogwork_mcp::ServerLimits;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::support::{answers, any_json};

/// Returns the answers to a text.
fn answers_to(text: &str) -> Vec<Value> {
    answers(ServerLimits::default(), &[text.as_bytes().to_vec()])
}

/// Adds a member that nobody knows to an object. rmcp ignores it, and the other reader leaves such
/// messages to rmcp.
fn with_another_member(text: &str) -> String {
    text.replacen('{', r#"{"another":0,"#, 1)
}

/// Adds as many characters to a text, because some errors contain the column.
fn with_spaces(text: &str) -> String {
    text.replacen('{', &format!("{{{}", " ".repeat(12)), 1)
}

fn arguments() -> Value {
    json!({
        "thought": "a",
        "thoughtNumber": 1,
        "totalThoughts": "2",
        "nextThoughtNeeded": true,
    })
}

/// Returns a call whose arguments are this text.
fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"sequentialthinking","arguments":{arguments}}}}}"#
    )
}

#[test]
fn unusual_texts_mean_the_same_to_both_readers() {
    let valid = call(&arguments().to_string());
    let with = |from: &str, to: &str| valid.replacen(from, to, 1);
    let texts = [
        valid.clone(),
        with("tools/call", r"tools\/call"),
        with("tools/call", "tools/call "),
        with(r#""id":1"#, r#""id":1,"id":2"#),
        with(r#""id":1"#, r#""id":1.0"#),
        with(r#""id":1"#, r#""id":9223372036854775808"#),
        with(r#""id":1,"#, ""),
        with(r#""id":1"#, r#""id":1,"result":{}"#),
        with(r#""jsonrpc":"2.0","#, ""),
        with(r#""jsonrpc":"2.0""#, r#""jsonrpc":"2\u002e0""#),
        with(r#""name":"#, r#""name":"other","name":"#),
        with(r#""name":"#, r#""task":{},"name":"#),
        with(r#""name":"#, r#""requestState":"a","name":"#),
        with(r#""name":"#, r#""inputResponses":{},"name":"#),
        with(r#""thought":"a""#, r#""thought":"a","thought":7"#),
        with(r#""thought":"a""#, r#""thought":"\ud83d\ude00""#),
        with(r#""thoughtNumber":1"#, r#""thoughtNumber":-0"#),
        with(r#""thoughtNumber":1"#, r#""thoughtNumber":1e0"#),
        with(r#""thoughtNumber":1"#, r#""thoughtNumber":1e999"#),
        with(
            r#""thoughtNumber":1"#,
            r#""thoughtNumber":18446744073709551616"#,
        ),
        with(
            r#""thoughtNumber":1"#,
            r#""thoughtNumber":{"$serde_json::private::RawValue":"1"}"#,
        ),
        with(
            r#""thoughtNumber":1"#,
            r#""thoughtNumber":{"$serde_json::private::Number":"1"}"#,
        ),
        call(r#"{"$serde_json::private::RawValue":"{}"}"#),
        call("null"),
        call("[]"),
    ];

    for text in texts {
        let theirs = answers_to(&with_another_member(&text));
        assert_eq!(answers_to(&with_spaces(&text)), theirs, "{text}");
    }
}

#[test]
fn the_depth_of_arguments_is_limited_as_by_rmcp() {
    for depth in 120..132 {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let text = call(&format!(r#"{{"thought":{deep}}}"#));
        let theirs = answers_to(&with_another_member(&text));

        assert_eq!(answers_to(&with_spaces(&text)), theirs, "{depth}");
    }
}

#[test]
fn lists_are_not_taken_for_objects() {
    let params = json!([null, "sequentialthinking", arguments()]);
    let listed = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let answers = answers_to(&listed.to_string());
    assert!(answers[0]["error"].is_object(), "{answers:?}");

    let all = json!(["2.0", 1, "tools/call", {"name": "sequentialthinking"}]);
    let answers = answers_to(&all.to_string());
    assert!(answers[0]["error"].is_object(), "{answers:?}");
}

/// The usual value of a member, or another one, or none.
fn member(usual: Value) -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        8 => Just(Some(usual)),
        2 => any_json().prop_map(Some),
        1 => Just(None),
    ]
}

/// A member that most calls don't have.
fn rare_member(values: Vec<Value>) -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        3 => Just(None),
        1 => prop::sample::select(values).prop_map(Some),
        1 => any_json().prop_map(Some),
    ]
}

fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let members = members.into_iter();
    let members = members.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn meta() -> impl Strategy<Value = Option<Value>> {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    rare_member(vec![
        json!({}),
        json!({"progressToken": 1}),
        json!({version: "2025-06-18"}),
        json!({version: "1999-01-01"}),
        json!({version: "2026-07-28", capabilities: {}}),
        json!({version: "2026-07-28"}),
    ])
}

fn params() -> impl Strategy<Value = Value> {
    let arguments = prop_oneof![
        2 => member(arguments()),
        1 => (any_json(), any_json()).prop_map(|(thought, number)| {
            Some(json!({"thought": thought, "thoughtNumber": number, "branchId": "b"}))
        }),
    ];
    let parts = (
        member(json!("sequentialthinking")),
        arguments,
        meta(),
        rare_member(vec![json!(0)]),
    );
    parts.prop_map(|(name, arguments, meta, other)| {
        object([
            ("name", name),
            ("arguments", arguments),
            ("_meta", meta),
            ("other", other),
        ])
    })
}

/// A call of a tool, in which anything may be wrong.
fn any_call() -> impl Strategy<Value = Value> {
    let parts = (
        member(json!("2.0")),
        member(json!(1)),
        member(json!("tools/call")),
        params(),
    );
    parts.prop_map(|(jsonrpc, id, method, params)| {
        let params = Some(params);
        object([
            ("jsonrpc", jsonrpc),
            ("id", id),
            ("method", method),
            ("params", params),
        ])
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_readers_read_the_same(call in any_call()) {
        let text = call.to_string();
        prop_assert_eq!(answers_to(&text), answers_to(&with_another_member(&text)));
    }
}
