//! Texts from files, models and programs are always shown safely.

#[path = "../../../text/tests/support/hostile.rs"]
pub(crate) mod hostile;

use cogwork_agents::{Agent, AgentError, FileError, FileFlow, FlowState, Loader};
use cogwork_flow::Flow;
use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use hostile::{assert_error_is_safe, assert_line_is_safe, assert_safe, assert_safe_line, texts};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[tokio::test(start_paused = true)]
async fn nothing_unsafe_is_shown() {
    for text in texts() {
        show_files(&text);
        show_visits(&text).await;
    }
}

#[derive(Deserialize, JsonSchema)]
struct Settings {
    #[expect(dead_code, reason = "no file fits")]
    number: u32,
}

/// The text as a YAML scalar, every character escaped.
fn scalar(text: &str) -> String {
    let escaped = text
        .chars()
        .map(|character| format!("\\U{:08X}", u32::from(character)));
    format!("\"{}\"", escaped.collect::<String>())
}

/// Files with the text in each place, escaped and as it is.
fn files(text: &str) -> Vec<String> {
    let agent = |settings: &str| format!("nodes: [{{id: a, type: agent, config: {{{settings}}}}}]");
    let replying = |settings: &str| agent(&format!("provider: scripted, replies: [a], {settings}"));

    let files = |text: &str| {
        [
            text.to_owned(),
            format!("{text}: 1\nnodes: []"),
            format!("name: {text}\nnodes: [{{id: {text}, type: {text}}}]"),
            format!("nodes: {text}"),
            format!("nodes: [{{id: a, type: subflow, config: {{file: {text}}}}}]"),
            format!("nodes: [{{id: a, type: strategy, config: {{strategy: {text}}}}}]"),
            format!("nodes: [{{id: a, type: odd, config: {{number: {text}}}}}]"),
            agent(&format!("provider: {text}")),
            agent("provider: fails"),
            agent(&format!("provider: scripted, replies: {text}")),
            replying(&format!("{text}: {text}")),
            replying(&format!("prompt: {text}, tools: [{text}]")),
            replying(&format!("actions: [{text}, {text}]")),
            replying(&format!("thinking: {{type: {text}, {text}: 1}}")),
            replying(&format!("memory: {{type: file, file: {text}}}")),
            format!(
                "nodes: [{{id: a, type: agent, config: {{provider: scripted, replies: [a]}}}}]\n\
                 edges: [{{from: {text}, to: a}}, {{from: a, action: {text}, to: {text}}}]"
            ),
        ]
    };

    let escaped = files(&scalar(text));
    let slot = files(&scalar(&format!("{{{text}}} ${{{text}}}")));
    escaped.into_iter().chain(slot).chain(files(text)).collect()
}

fn show_files(text: &str) {
    let problem = text.to_owned();
    let fails = move |_: Value| Err::<ScriptedClient, _>(problem.clone());
    let loader = Loader::new()
        .with_environment(|_| None)
        .with_provider("fails", "Fails.", fails)
        .and_then(|loader| loader.with_node_type("odd", "Odd.", |_: Settings, _| None))
        .unwrap();

    for file in files(text) {
        match loader.load_text(text, &file) {
            Ok(loaded) => show_flow(&loaded),
            Err(error) => show_file_error(&error),
        }
    }

    let nowhere = format!("/nowhere/{text}");
    show_file_error(&loader.load(nowhere).err().unwrap());
}

fn show_file_error(error: &FileError) {
    error
        .problems()
        .iter()
        .for_each(|problem| assert_line_is_safe(problem));
    assert_error_is_safe(error);
}

fn show_flow(loaded: &FileFlow) {
    assert_safe(&format!("{loaded:?}"));
    assert_safe(&loaded.flow().mermaid().to_string());
}

fn failure(text: &str) -> LlmError {
    LlmError::new(LlmErrorKind::Other, text)
        .with_body(text)
        .with_request_id(text)
}

/// Visits of an agent with the text for its name and its labels, which fail.
async fn show_visits(text: &str) {
    let labels = [format!("{text}a"), format!("{text}b")];
    let agents = [
        Agent::new(text, ScriptedClient::new([failure(text)])),
        Agent::new(text, ScriptedClient::new([""])),
        Agent::new(text, ScriptedClient::new([text; 2])).with_actions(labels.clone()),
    ];

    for agent in agents {
        let flow = Flow::builder(text).start(text).node(text, agent);
        let flow = labels
            .iter()
            .fold(flow, |flow, label| flow.end(text, label.clone()));
        let flow = match flow.end(text, "default").build() {
            Ok(flow) => flow,
            Err(error) => {
                assert_safe_line(&error.to_string());
                continue;
            }
        };

        if let Err(error) = flow.run(&mut FlowState::new(text)).await {
            assert_safe_line(&error.to_string());
            assert_safe(&format!("{error:#}"));
            error
                .downcast_ref::<AgentError>()
                .into_iter()
                .for_each(assert_error_is_safe);
        }
    }

    let state = FlowState::new(text);
    assert_safe(&format!("{state:?}"));
}
