//! Mistakes in YAML that are often made, and what is suggested instead.

use cogwork_agents::Loader;

use crate::support::problems;

/// The problems of a flow of one agent with these settings.
fn agent(settings: &str) -> String {
    let flow = format!(
        "nodes:\n- id: a\n  type: agent\n  config:\n    provider: rules\n    rules: []\n    {settings}\n"
    );
    problems(&Loader::new(), &flow)
}

#[test]
fn a_syntax_error_shows_the_line_and_what_to_quote() {
    let lines = [
        "prompt: Topic: {input}",
        "prompt: {input} is the topic",
        "prompt: @writer says",
        "prompt: `code`",
        "prompt: %d of them",
        "prompt: *bold* text",
        "prompt: !important",
        "prompt: &x &y z",
        "prompt: 'It's here'",
        "prompt: \"a\" and b",
        "\tprompt: x",
        "prompt:\tx: y",
        "prompt: [a, b] and c",
        "prompt: \"not closed",
        "role: x\n    - y",
    ];
    let told: Vec<_> = lines.iter().map(|line| agent(line)).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    flow.yaml:7:18: no YAML from here on: mapping values are not allowed in this context; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: Topic: {input}`
    flow.yaml:7:21: no YAML from here on: while parsing a block mapping, did not find expected key; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: {input} is the topic`
    flow.yaml:7:13: no YAML from here on: unexpected character: `@'; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: @writer says`
    flow.yaml:7:13: no YAML from here on: unexpected character: ``'; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: `code``
    flow.yaml:7:13: no YAML from here on: unexpected character: `%'; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: %d of them`
    flow.yaml:7:13: no YAML from here on: while parsing node, found unknown anchor; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: *bold* text`
    flow.yaml:7:13: nodes[0].config.prompt: there is a tag here; expected a value without one, or a text that begins with `!` in quotes
    flow.yaml:7:16: no YAML from here on: while parsing a block mapping, did not find expected key; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: &x &y z`
    flow.yaml:7:17: no YAML from here on: invalid trailing content after double-quoted scalar; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: 'It's here'`
    flow.yaml:7:17: no YAML from here on: invalid trailing content after double-quoted scalar; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: "a" and b`
    flow.yaml:7:6: no YAML from here on: tabs disallowed within this context (block indentation); expected spaces, and no tabs, before it; the line is `prompt: x`
    flow.yaml:7:13: no YAML from here on: ':' must be followed by a valid YAML whitespace; expected spaces, and no tabs, before it; the line is `prompt:\tx: y`
    flow.yaml:7:20: no YAML from here on: while parsing a block mapping, did not find expected key; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: [a, b] and c`
    flow.yaml:7:13: no YAML from here on: while scanning a quoted scalar, found unexpected end of stream; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: "not closed`
    flow.yaml:8:7: no YAML from here on: while parsing a block mapping, did not find expected key; the line is `- y`
    "#);
}

#[test]
fn a_syntax_error_shows_no_key() {
    let lines = [
        "api_key: sk-8731: x",
        "token: @8731",
        "base_url: `http://user:8731@host`",
    ];
    for line in lines {
        let told = agent(line);
        assert!(!told.contains("8731"), "{told}");
        assert!(told.contains("in quotes"), "{told}");
    }

    let long = agent(&format!("prompt: @{}", "x".repeat(10_000)));
    assert!(long.len() < 600, "{long}");
}
