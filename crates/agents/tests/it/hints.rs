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
fn a_syntax_error_tells_what_to_quote() {
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
    insta::assert_snapshot!(told.join("\n"));
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
