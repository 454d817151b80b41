//! Texts from files, models and programs are always shown safely.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

#[path = "../../../text/tests/support/hostile.rs"]
pub(crate) mod hostile;

use cogwork_agents::{
    Agent, AgentError, AgentErrorKind, FileError, FileFlow, FlowState, Loader, LoaderError,
    NodeType, Provider, Template, TemplateError,
};
use cogwork_flow::Flow;
use cogwork_flow::journal::CannotWait;
use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_tools::ToolError;
use hostile::{assert_error_is_safe, assert_line_is_safe, assert_safe, assert_safe_line, texts};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[tokio::test(start_paused = true)]
async fn nothing_unsafe_is_shown() {
    for text in texts() {
        show_loader_errors(&text);
        show_templates(&text);
        show_files(&text);
        show_agent_errors(&text);
        show_visits(&text).await;
    }
}

#[derive(Deserialize, JsonSchema)]
struct Settings {
    #[expect(dead_code, reason = "no file fits")]
    number: u32,
}

fn provider(name: &str, problem: &str) -> Provider {
    let problem = problem.to_owned();

    Provider::new(name, "Fails.", move |_: Value| {
        Err::<ScriptedClient, _>(problem.clone())
    })
}

fn show_loader_errors(text: &str) {
    let owned = || text.to_owned();
    let node_type = || NodeType::new(text, text, |_: Settings, _| Err(Vec::new()));

    assert_error_is_safe(&LoaderError::NameTaken {
        kind: "provider",
        name: owned(),
        known: vec![owned(), owned()],
    });
    let twice = Loader::new()
        .with_provider(provider(text, text))
        .and_then(|loader| loader.with_provider(provider(text, text)));
    assert_error_is_safe(&twice.err().unwrap());
    assert_safe(&format!("{:?} {:?}", provider(text, text), node_type()));

    let twice = Loader::new()
        .with_node_type(node_type())
        .and_then(|loader| loader.with_node_type(node_type()));
    assert_error_is_safe(&twice.err().unwrap());
}

fn show_templates(text: &str) {
    assert_error_is_safe(&TemplateError::Open);
    assert_error_is_safe(&TemplateError::Closed);
    assert_error_is_safe(&TemplateError::UnknownSlot {
        slot: text.to_owned(),
        known: vec![text.to_owned()],
    });

    if let Err(error) = Template::new(&format!("{{{text}}}")).and_then(|slot| slot.check([text])) {
        assert_error_is_safe(&error);
    }

    let long = FlowState::new("x".repeat(Template::MAX_FILLED + 1));
    let filled = Template::new("{input}").unwrap().fill(&long);
    assert_error_is_safe(&filled.unwrap_err());
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
    let odd = NodeType::new("odd", "Odd.", |_: Settings, _| Err(Vec::new()));
    let loader = Loader::new()
        .with_environment(|_| None)
        .with_provider(provider("fails", text))
        .and_then(|loader| loader.with_node_type(odd))
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

fn show_agent_errors(text: &str) {
    let long = FlowState::new("x".repeat(Template::MAX_FILLED + 1));
    let too_long = Template::default().fill(&long).unwrap_err();

    let errors = [
        AgentErrorKind::NothingAsked,
        AgentErrorKind::Prompt(too_long),
        AgentErrorKind::NotReady(ToolError::unavailable(text)),
        AgentErrorKind::Client(failure(text)),
        AgentErrorKind::Empty,
        AgentErrorKind::TooManyToolCalls { rounds: 1 },
        AgentErrorKind::CannotWait(CannotWait::NoJournal),
        AgentErrorKind::NoAction {
            labels: text.to_owned(),
        },
    ];

    for kind in errors {
        assert_line_is_safe(&kind);
        assert_error_is_safe(&AgentError::from(kind));
    }
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
