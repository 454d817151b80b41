//! Values from the environment are never shown.

use cogwork_agents::{FileFlow, FlowState, Loader};
use cogwork_journal::Store;
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream, async_trait,
};
use futures_util::stream;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

const CANARY: &str = "canary \"8zq31\"";

fn loader() -> Loader {
    Loader::new().with_environment(|_| Some(CANARY.to_owned()))
}

/// Every place for a text.
const FLOW: &str = include_str!("../files/secrets.yaml");

fn is_hidden(text: &str) {
    assert!(!text.contains("8zq31"), "{text}");
}

#[test]
fn no_hint_is_a_guess_at_a_value() {
    let near = Loader::new().with_environment(|_| Some("reflectio".to_owned()));
    let error = near.load_text("flow.yaml", FLOW).unwrap_err();
    assert!(!format!("{error:#}").contains("did you mean `reflection`"));
}

#[test]
fn not_in_a_slot_of_a_prompt() {
    let flow = |text: &str| {
        format!(
            "nodes: [{{id: a, type: agent, config: {{provider: rules, rules: [], prompt: '{text}'}}}}]"
        )
    };
    for (value, prompt) in [
        ("pass{8zq31}word", "${A}"),
        ("pass{8z", "${A}q31}"),
        ("8zq31}", "{${A}"),
        ("8zq31", "{${A}}"),
    ] {
        let loaded = loader_with(value).load_text("flow.yaml", &flow(prompt));
        let error = loaded.unwrap_err().to_string();
        assert!(!error.contains("8z"), "{error}");
    }
}

#[test]
fn a_variable_fills_no_more_than_a_file_may_hold() {
    let loader = Loader::new().with_environment(|_| Some("x".repeat(100_000)));
    let flow = format!("nodes: '{}'", "${A}".repeat(50_000));
    let error = loader.load_text("flow.yaml", &flow).unwrap_err();
    insta::assert_snapshot!(error, @"flow.yaml:1:8: nodes: the texts of the file, with variables, come to more than 1048576 bytes; expected fewer");
}

#[derive(Deserialize, JsonSchema)]
struct Leaky {
    secret: String,
    #[serde(default)]
    streams: bool,
}

impl Leaky {
    fn error(&self) -> LlmError {
        LlmError::new(LlmErrorKind::Server, format!("no {}", self.secret))
            .with_status(500)
            .with_body(format!("{:?}", self.secret))
            .with_request_id(format!("request {}", self.secret))
            .with_source(format!("caused by {}", self.secret))
    }
}

/// A client that tells its secret in every error.
#[async_trait]
impl LlmClient for Leaky {
    async fn complete(&self, _: ChatRequest) -> Result<ChatResponse, LlmError> {
        Err(self.error())
    }

    async fn stream(&self, _: ChatRequest) -> Result<ReplyStream, LlmError> {
        let pieces = [Ok(Delta::Text("Hm".to_owned())), Err(self.error())];
        Ok(ReplyStream::new(stream::iter(pieces)))
    }

    fn capabilities(&self) -> Capabilities {
        match self.streams {
            true => Capabilities::none().with(Capability::Streaming),
            false => Capabilities::none(),
        }
    }
}

fn with_leaky(loader: Loader) -> Loader {
    let make = |leaky: Leaky| Ok::<_, String>(leaky);
    loader.with_provider("leaky", "Leaks.", make).unwrap()
}

/// The error of a run and all of its sources.
fn shown(error: &(dyn std::error::Error + 'static)) -> String {
    let sources = std::iter::successors(Some(error), |error| error.source());
    sources
        .map(|error| format!("{error} {error:#} {error:?}\n"))
        .collect()
}

#[tokio::test]
async fn not_in_the_errors_and_records_of_runs() {
    let loader = with_leaky(loader());
    let kinds = [
        "type: agent, config: {",
        "type: agent, config: {actions: [a, b], thinking: {type: plan_first, config: {}}, ",
        "type: chain_of_thought, config: {",
        "type: strategy, config: {strategy: step_back, ",
    ];

    for (kind, streams) in kinds.iter().flat_map(|kind| [(kind, true), (kind, false)]) {
        let settings = format!("provider: leaky, secret: '${{A}}', streams: {streams}");
        let flow = format!("nodes: [{{id: a, {kind}{settings}}}}}]");
        let loaded = loader.load_text("flow.yaml", &flow).unwrap();

        let folder = tempfile::tempdir().unwrap();
        let store = Store::files(folder.path());
        let mut state = FlowState::new("Hello");
        let journal = store.start("7", loaded.flow(), &state).await.unwrap();
        let mut run = loaded.flow().begin().with_journal(journal);
        let error = run.finish(&mut state).await.unwrap_err();

        let shown = shown(&error);
        assert!(shown.contains("no ${A} (status 500"), "{shown}");
        is_hidden(&shown);
        is_hidden(&serde_json::to_string(&state).unwrap());

        let record = std::fs::read_to_string(folder.path().join("7.jsonl")).unwrap();
        assert!(record.contains("no ${A}"), "{record}");
        is_hidden(&record);
    }
}

#[test]
fn not_in_drawings_schemas_and_problems_of_clients() {
    let unmade = |leaky: Leaky| Err::<Leaky, _>(format!("bad {}", leaky.secret));
    let loader = with_leaky(loader()).with_provider("unmade", "Leaks.", unmade);
    let loader = loader.unwrap();

    let flow =
        "nodes: [{id: a, type: agent, config: {provider: leaky, secret: '${A}', role: '${B}'}}]";
    let loaded = loader.load_text("flow.yaml", flow).unwrap();
    is_hidden(&format!(
        "{loader:?} {} {loaded:?} {}",
        loader.schema(),
        loaded.flow().mermaid()
    ));

    let error = loader.load_text("flow.yaml", &flow.replace("leaky", "unmade"));
    insta::assert_snapshot!(error.unwrap_err(), @"flow.yaml:1:38: nodes[0].config: bad ${A}");
}

#[test]
fn a_dollar_is_two() {
    let loader = Loader::new().with_environment(|name| (name == "A").then(|| "x".to_owned()));
    let flow = "nodes: [{id: a, type: agent, config: {provider: rules, rules: [{when: '$5 $$5 $${A} ${A}$', reply: x}]}}]";
    assert!(loader.load_text("flow.yaml", flow).is_ok());
}

/// A flow whose one agent asks a server that is not there.
fn asking(base_url: &str) -> String {
    format!(
        "nodes: [{{id: a, type: agent, config: \
         {{provider: openai, name: m, base_url: '{base_url}', role: '${{V}}', retries: 0, timeout: 5}}}}]"
    )
}

fn loader_with(value: &str) -> Loader {
    let value = value.to_owned();
    Loader::new().with_environment(move |_| Some(value.clone()))
}

/// The error of a run of a flow, as a program shows it.
async fn told(loaded: &FileFlow) -> String {
    let mut state = FlowState::new("Hello");
    let error = loaded.flow().run(&mut state).await.unwrap_err();
    loaded.hide_secrets(&format!("{error:#}"))
}

/// The parts of a value that nothing may show: all of eight characters, and a shorter value whole, without
/// those that are mostly punctuation.
fn parts(value: &str) -> Vec<String> {
    let characters: Vec<char> = value.to_lowercase().chars().collect();
    let parts = characters.windows(characters.len().min(8));
    let parts = parts.filter(|part| part.iter().filter(|c| c.is_alphanumeric()).count() >= 4);

    parts.map(String::from_iter).collect()
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = more.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &more[2..] } else { more };
    }

    String::from_utf8_lossy(&bytes).into_owned()
}

fn assert_shows_no_part(shown: &str, value: &str) {
    let lower = shown.to_lowercase();
    let forms = [percent_decoded(&lower), lower.replace('\\', ""), lower];
    for part in parts(value) {
        let shows = forms.iter().any(|form| form.contains(&part));
        assert!(!shows, "{part:?} of {value:?} shows in {shown}");
    }
}

/// Where a value may be in an address, so that no host has to be looked up.
const ON_THIS_MACHINE: [&str; 6] = [
    "http://localhost:1/${V}",
    "http://localhost:1/${V}/v1",
    "HTTP://LocalHost:1/x/../${V}/./v1//",
    "http://localhost:1/v1?key=${V}",
    "http://localhost:${V}/v1",
    "http://me:${V}@localhost:1/v1",
];

const ELSEWHERE: [&str; 4] = [
    "${V}",
    "http://${V}/v1",
    "http://pre-${V}-post.example/v1",
    "http://${V}@localhost:1/v1",
];

fn any_value() -> impl Strategy<Value = String> {
    let secret = || {
        prop_oneof![
            "[a-zA-Z0-9_-]{4,30}",
            "[a-zA-Z0-9é漢ß/%?#@:&=+ .\\\\\"'{}<>-]{4,30}",
            r"[a-z]{3,8}[éèßñ][a-z]{3,8}",
            "[a-z0-9]{4,10}\n[a-z0-9\u{1b}\u{202e}]{4,10}",
            "(%[0-9a-f]{2}){2,6}[a-z]{4,9}",
        ]
    };

    let address = (secret(), secret())
        .prop_map(|(one, other)| format!("http://LocalHost:1/{one}/../{other}"));
    prop_oneof![3 => secret(), 1 => address]
}

/// The value without the host of an address, which is shown.
fn secret_of(value: &str) -> &str {
    value.strip_prefix("http://LocalHost:1").unwrap_or(value)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn no_part_of_a_value_in_anything_that_is_shown(
        value in any_value(),
        address in prop::sample::select(ON_THIS_MACHINE.to_vec()),
    ) {
        let secret = secret_of(&value);
        match loader_with(&value).load_text("flow.yaml", &asking(address)) {
            Ok(loaded) => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                assert_shows_no_part(&runtime.block_on(told(&loaded)), secret);
                let drawn = format!("{loaded:?} {}", loaded.flow().mermaid());
                assert_shows_no_part(&drawn, secret);
            }
            Err(error) => assert_shows_no_part(&format!("{error} {error:#} {error:?}"), secret),
        }
    }

    #[test]
    fn no_part_of_a_value_in_the_problems_of_a_file(
        value in any_value(),
        address in prop::sample::select([&ON_THIS_MACHINE[..], &ELSEWHERE].concat()),
    ) {
        let error = loader_with(&value).load_text("flow.yaml", &FLOW.replace("${C}", address)).unwrap_err();
        assert_shows_no_part(&format!("{error} {error:#} {error:?}"), secret_of(&value));
        for problem in error.problems() {
            assert_shows_no_part(&format!("{problem} {problem:?}"), secret_of(&value));
        }
    }
}
