//! What came from the environment is in nothing that is shown.

use cogwork_agents::{FlowState, Loader, Provider};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, async_trait};
use schemars::JsonSchema;
use serde::Deserialize;

const CANARY: &str = "canary \"8731\"";

fn loader() -> Loader {
    Loader::new().with_environment(|_| Some(CANARY.to_owned()))
}

/// Everywhere a text may stand.
const FLOW: &str = r#"
nodes:
  - id: a
    type: agent
    config:
      provider: openai
      name: ${A}
      api_key: key ${B}
      base_url: ${C}
      role: ${D}
      prompt: '${E} {unknown}'
      stop: ['${F}']
      thinking: {type: '${G}', config: {reflection_prompt: '${H}'}}
  - id: b
    type: strategy
    config: {provider: '${I}', strategy: '${J}'}
  - id: c
    type: strategy
    config: {provider: rules, rules: [], strategy: '${J}', when_stopped: '${K}', tools: ['${L}']}
  - id: d
    type: ${M}
  - id: e
    type: chain_of_thought
    config: {provider: openai, name: m, base_url: '${N}', api_key: '${O}', language: '${P}', timeout: '${Q}'}
  - id: f
    type: subflow
    config: {file: '${R}'}
"#;

fn is_hidden(text: &str) {
    assert!(!text.contains("8731"), "{text}");
}

#[test]
fn not_in_errors() {
    let error = loader().load_text("flow.yaml", FLOW).unwrap_err();
    is_hidden(&format!("{error} {error:#} {error:?}"));
    for problem in error.problems() {
        is_hidden(&format!("{problem} {problem:?}"));
    }
    // And not by a guess at what was meant.
    let near = Loader::new().with_environment(|_| Some("reflectio".to_owned()));
    let error = near.load_text("flow.yaml", FLOW).unwrap_err();
    assert!(!format!("{error:#}").contains("did you mean `reflection`"));
}

#[test]
fn not_in_a_slot_of_a_prompt() {
    let flow = |text: &str| {
        format!("nodes: [{{id: a, type: agent, config: {{provider: rules, rules: [], prompt: '{text}'}}}}]")
    };
    for (value, prompt) in
        [("pass{8731}word", "${A}"), ("pass{87", "${A}31}"), ("8731}", "{${A}"), ("8731", "{${A}}")]
    {
        let loader = Loader::new().with_environment(move |_| Some(value.to_owned()));
        let error = loader.load_text("flow.yaml", &flow(prompt)).unwrap_err().to_string();
        assert!(!error.contains("87"), "{error}");
    }
}

/// Messages cut long texts, and escape what would steer a terminal.
#[tokio::test]
async fn not_where_a_message_cut_or_escaped_it() {
    let long = "8731".repeat(300);
    for value in [long.as_str(), "one 8731\ntwo 8731\u{1b}[2J", "it's \"8731\"\\\n", "8731\u{202e}8731\u{e9}"]
    {
        let looked_up = value.to_owned();
        let loader = Loader::new().with_environment(move |_| Some(looked_up.clone()));
        let flow =
            "nodes: [{id: a, type: agent, config: {provider: rules, rules: [{when: '${A}', reply: x}]}}]";
        let loaded = loader.load_text("flow.yaml", flow).unwrap();
        let error = loaded.flow().run(&mut FlowState::new("Hello")).await.unwrap_err().to_string();
        assert!(error.contains("8731"), "{error}");
        let body = serde_json::json!({"error": serde_json::json!({"role": value}).to_string()}).to_string();
        for text in [error, format!("{value:?}"), body] {
            is_hidden(&loaded.hide_secrets(&text));
        }
    }
}

#[test]
fn a_variable_fills_no_more_than_a_file_may_hold() {
    let loader = Loader::new().with_environment(|_| Some("x".repeat(100_000)));
    let flow = format!("nodes: '{}'", "${A}".repeat(50_000));
    let error = loader.load_text("flow.yaml", &flow).unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow.yaml:1:8: nodes: the texts of the file, with aliases and variables, come to more than 1048576 bytes; expected fewer"
    );
}

#[test]
fn not_in_the_schema() {
    is_hidden(&loader().schema().to_string());
    is_hidden(&format!("{:?}", loader()));
}

#[derive(Deserialize, JsonSchema)]
struct Leaky {
    secret: String,
}

/// A client that tells its secret in every error.
#[async_trait]
impl LlmClient for Leaky {
    async fn complete(&self, _: ChatRequest) -> Result<ChatResponse, LlmError> {
        Err(LlmError::new(LlmErrorKind::Server, format!("no {}", self.secret))
            .with_body(format!("{:?}", self.secret)))
    }
}

#[tokio::test]
async fn not_in_drawings_and_runs() {
    let leaky = Provider::new("leaky", "Leaks.", |leaky: Leaky| Ok::<_, String>(leaky));
    let unmade =
        Provider::new("unmade", "Leaks.", |leaky: Leaky| Err::<Leaky, _>(format!("bad {}", leaky.secret)));
    let loader = loader().with_provider(leaky).unwrap().with_provider(unmade).unwrap();
    let flow = "nodes: [{id: a, type: agent, config: {provider: leaky, secret: '${A}', role: '${B}'}}]";
    let loaded = loader.load_text("flow.yaml", flow).unwrap();
    is_hidden(&format!("{loaded:?} {} {}", loaded.flow().mermaid(), loaded.flow().graphviz()));

    let mut state = FlowState::new("Hello");
    let error = loaded.flow().run(&mut state).await.unwrap_err();
    is_hidden(&serde_json::to_string(&state).unwrap());
    // The client's own words: the loaded file knows what to hide in them.
    assert!(error.to_string().contains("8731"));
    for text in [format!("{error}"), format!("{error:#}"), serde_json::to_string(&error.to_string()).unwrap()]
    {
        is_hidden(&loaded.hide_secrets(&text));
    }
    let shown = loaded.hide_secrets(&error.to_string());
    assert_eq!(shown, "flow `flow`, node `a`: exec failed: the call to the model failed: server: no ${A}");

    let error = loader.load_text("flow.yaml", &flow.replace("leaky", "unmade")).unwrap_err();
    assert_eq!(error.to_string(), "flow.yaml:1:38: nodes[0].config: bad ${A}");
}

#[test]
fn a_dollar_is_two() {
    let loader = Loader::new().with_environment(|name| (name == "A").then(|| "x".to_owned()));
    let flow = "nodes: [{id: a, type: agent, config: {provider: rules, rules: [{when: '$5 $$5 $${A} ${A}$', reply: x}]}}]";
    assert!(loader.load_text("flow.yaml", flow).is_ok());
}
