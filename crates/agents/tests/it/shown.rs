//! Texts from files, models and programs are always shown safely.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_agents::{
    Agent, AgentError, AgentErrorKind, FileError, FileFlow, FlowState, Loader, LoaderError,
    NodeType, Provider, Template, TemplateError,
};
use cogwork_flow::Flow;
use cogwork_flow::journal::CannotWait;
use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_text::testing::{Shown, assert_safe, assert_safe_line, texts};
use cogwork_tools::ToolError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Types that show no text of others. A [`Template`] is written as it was, to be read again.
const EXEMPT: [&str; 3] = [
    "Place",
    "Template",
    // It shows an error of the tools, whose tests show it.
    "ConnectError",
];

#[tokio::test(start_paused = true)]
async fn nothing_unsafe_is_shown() {
    let shown = Shown::default();

    for text in texts() {
        show_loader_errors(&shown, &text);
        show_templates(&shown, &text);
        show_files(&shown, &text);
        show_agent_errors(&shown, &text);
        show_visits(&shown, &text).await;
    }

    shown.assert_complete(env!("CARGO_MANIFEST_DIR"), &EXEMPT);
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

fn show_loader_errors(shown: &Shown, text: &str) {
    let owned = || text.to_owned();
    let node_type = || NodeType::new(text, text, |_: Settings, _| Err(Vec::new()));

    shown.error(&LoaderError::NameTaken {
        kind: "provider",
        name: owned(),
        known: vec![owned(), owned()],
    });
    let twice = Loader::new()
        .with_provider(provider(text, text))
        .and_then(|loader| loader.with_provider(provider(text, text)));
    shown.error(&twice.err().unwrap());
    assert_safe(&format!("{:?} {:?}", provider(text, text), node_type()));

    let twice = Loader::new()
        .with_node_type(node_type())
        .and_then(|loader| loader.with_node_type(node_type()));
    shown.error(&twice.err().unwrap());
}

fn show_templates(shown: &Shown, text: &str) {
    shown.error(&TemplateError::Open);
    shown.error(&TemplateError::Closed);
    shown.error(&TemplateError::UnknownSlot {
        slot: text.to_owned(),
        known: vec![text.to_owned()],
    });

    if let Err(error) = Template::new(&format!("{{{text}}}")).and_then(|slot| slot.check([text])) {
        shown.error(&error);
    }

    let long = FlowState::new("x".repeat(Template::MAX_FILLED + 1));
    let filled = Template::new("{input}").unwrap().fill(&long);
    shown.error(&filled.unwrap_err());
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

fn show_files(shown: &Shown, text: &str) {
    let odd = NodeType::new("odd", "Odd.", |_: Settings, _| Err(Vec::new()));
    let loader = Loader::new()
        .with_environment(|_| None)
        .with_provider(provider("fails", text))
        .and_then(|loader| loader.with_node_type(odd))
        .unwrap();

    for file in files(text) {
        match loader.load_text(text, &file) {
            Ok(loaded) => show_flow(&loaded),
            Err(error) => show_file_error(shown, &error),
        }
    }

    let nowhere = format!("/nowhere/{text}");
    show_file_error(shown, &loader.load(nowhere).err().unwrap());
}

fn show_file_error(shown: &Shown, error: &FileError) {
    error
        .problems()
        .iter()
        .for_each(|problem| shown.line(problem));
    shown.error(error);
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

fn show_agent_errors(shown: &Shown, text: &str) {
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
        shown.line(&kind);
        shown.error(&AgentError::from(kind));
    }
}

/// Visits of an agent with the text for its name and its labels, which fail.
async fn show_visits(shown: &Shown, text: &str) {
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
            shown.error(error);
        }
    }

    let state = FlowState::new(text);
    assert_safe(&format!("{state:?}"));
}
