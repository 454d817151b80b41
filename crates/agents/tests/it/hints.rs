//! Mistakes that are often made in files, and what is suggested instead.

use cogwork_agents::Loader;

use crate::support;

fn problems(flow: &str) -> String {
    support::problems(&Loader::new(), flow)
}

/// The problems of a flow of one agent with these settings.
fn agent(settings: &str) -> String {
    problems(&format!(
        "nodes:\n- id: a\n  type: agent\n  config:\n    provider: rules\n    rules: []\n    {settings}\n"
    ))
}

#[test]
fn the_name_of_a_setting_elsewhere_is_a_hint() {
    let told = problems(
        "nodes: [{id: a, type: agent, config: {provider: openai, model: gpt, url: 'http://x', token: x, system: x, max_length: 5}}]",
    );
    insta::assert_snapshot!(told, @"
    flow.yaml:1:38: nodes[0].config: the key `name` is missing; expected a text
    flow.yaml:1:57: nodes[0].config: unknown key `model`; did you mean `name`?
    flow.yaml:1:69: nodes[0].config: unknown key `url`; did you mean `base_url`?
    flow.yaml:1:86: nodes[0].config: unknown key `token`; did you mean `api_key`?
    flow.yaml:1:96: nodes[0].config: unknown key `system`; did you mean `role`?
    flow.yaml:1:107: nodes[0].config: unknown key `max_length`; did you mean `max_tokens`?
    ");
}

#[test]
fn a_slot_without_quotes_is_told() {
    insta::assert_snapshot!(agent("prompt: {input}"), @"flow.yaml:7:13: nodes[0].config.prompt: expected a text, found a mapping; put a text that begins with a slot in quotes: `'{input}'`");
    insta::assert_snapshot!(agent("prompt: {the writer}"), @"flow.yaml:7:13: nodes[0].config.prompt: expected a text, found a mapping; put a text that begins with a slot in quotes: `'{the writer}'`");
    insta::assert_snapshot!(agent("prompt: {input} is the topic"), @"flow.yaml:7:21: no YAML from here on: while parsing a block mapping, did not find expected key; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: {input} is the topic`");
    insta::assert_snapshot!(agent("prompt: {a: b, c: d}"), @"flow.yaml:7:13: nodes[0].config.prompt: expected a text, found a mapping");
}

#[test]
fn a_mode_without_a_mapping_is_told() {
    insta::assert_snapshot!(agent("thinking: reflection"), @"flow.yaml:7:15: nodes[0].config.thinking: expected a mapping or a list, found a text; did you mean `{type: reflection}`?");
    insta::assert_snapshot!(agent("thinking: [reflexion]"), @"flow.yaml:7:16: nodes[0].config.thinking[0]: expected a mapping with `type`, found a text; did you mean `{type: reflection}`?");
    insta::assert_snapshot!(agent("thinking: deep"), @"flow.yaml:7:15: nodes[0].config.thinking: expected a mapping or a list, found a text");
    insta::assert_snapshot!(agent("memory: in_memory"), @"flow.yaml:7:13: nodes[0].config.memory: expected a mapping, found a text; did you mean `{type: in_memory}`?");
}

#[test]
fn a_syntax_error_shows_the_line_and_what_to_quote() {
    let lines = [
        "prompt: Topic: {input}",
        "prompt: Topic: a: b",
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
    flow.yaml:7:18: no YAML from here on: mapping values are not allowed in this context; put a text with special characters in quotes, and double each `'` in it: `'a: b'`; the line is `prompt: Topic: a: b`
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

#[test]
fn an_id_of_several_nodes_is_told() {
    let node = |id: &str| {
        format!(
            "- {{id: {id}, type: agent, config: {{provider: rules, rules: [], actions: [go, stop]}}}}\n"
        )
    };
    let nodes = |ids: &[&str]| {
        format!(
            "nodes:\n{}",
            ids.iter().map(|id| node(id)).collect::<String>()
        )
    };

    insta::assert_snapshot!(problems(&nodes(&["a", "a"])), @"flow.yaml:3:8: nodes[1].id: line 2 already has a node with the id `a`; choose another id");
    insta::assert_snapshot!(problems(&nodes(&["a", "a", "b", "a", "b", "a"])), @"
    flow.yaml:3:8: nodes[1].id: line 2 already has a node with the id `a`; choose another id
    flow.yaml:4:8: nodes[2]: node `b` cannot be reached from the start; expected an edge with `to: b`
    flow.yaml:5:8: nodes[3].id: line 2 already has a node with the id `a`; choose another id
    flow.yaml:6:8: nodes[4].id: line 4 already has a node with the id `b`; choose another id
    flow.yaml:7:8: nodes[5].id: line 2 already has a node with the id `a`; choose another id
    ");
    // The consequences aren't repeated for each of them.
    let edges = "edges: [{from: a, action: go, to: end}]\n";
    insta::assert_snapshot!(problems(&(nodes(&["a", "a", "a"]) + edges)), @"
    flow.yaml:2:8: nodes[0]: node `a` declares the action `stop`, which leads nowhere; add an edge or an end for it
    flow.yaml:3:8: nodes[1].id: line 2 already has a node with the id `a`; choose another id
    flow.yaml:4:8: nodes[2].id: line 2 already has a node with the id `a`; choose another id
    ");
}
