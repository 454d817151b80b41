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
            agent(&format!("provider: scripted, {text}: {text}")),
            agent(&format!("provider: scripted, replies: {text}")),
            agent(&format!(
                "provider: scripted, replies: [a], prompt: {text}, tools: [{text}]"
            )),
            agent(&format!(
                "provider: scripted, replies: [a], actions: [{text}, {text}]"
            )),
            agent(&format!(
                "provider: scripted, replies: [a], thinking: {{type: {text}, {text}: 1}}"
            )),
            agent(&format!(
                "provider: scripted, replies: [a], memory: {{type: file, file: {text}}}"
            )),
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
        Agent::new(text, ScriptedClient::new([text; 2])).with_actions(labels),
    ];

    for agent in agents {
        let flow = Flow::builder(text).start(text).node(text, agent);
        let flow = [text.to_owned() + "a", text.to_owned() + "b"]
            .into_iter()
            .fold(flow, |flow, label| flow.end(text, label))
            .end(text, "default")
            .build();

        let error = match flow {
            Ok(flow) => flow.run(&mut FlowState::new(text)).await.err(),
            Err(error) => {
                assert_safe_line(&error.to_string());
                None
            }
        };

        let Some(error) = error else { continue };
        assert_safe_line(&error.to_string());
        assert_safe(&format!("{error:#}"));
        if let Some(error) = error.downcast_ref::<AgentError>() {
            assert_error_is_safe(error);
        }
    }

    let state = FlowState::new(text);
    assert_safe(&format!("{state:?}"));
}
