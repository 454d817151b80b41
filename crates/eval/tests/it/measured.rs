//! The table of the guide `which-strategy`, made again from the recorded replies of real models.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use cogwork_agents::Loader;
use cogwork_eval::{Evaluation, Suite, Table};
use cogwork_journal::Store;
use cogwork_llm::layers::Recorder;
use cogwork_llm::{ChatResponse, LlmClient, LlmError, ScriptedClient};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn measured(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/measured")).join(name)
}

/// A call of a model, in the order of the calls. The suites make one call at a time. Of a request, the
/// digest is kept: the requests would make a large file.
#[derive(Serialize, Deserialize)]
struct Kept {
    request: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<ChatResponse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LlmError>,
}

fn kept(path: PathBuf) -> Vec<Kept> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn digest(request: &impl Serialize) -> Value {
    let json = serde_json::to_value(request).unwrap().to_string();
    let digest = Sha256::digest(json);
    let digits = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
    Value::String(digits.collect())
}

/// Evaluates a suite, with one client in place of those of all arms.
async fn table(
    name: &str,
    server: &str,
    replace: impl Fn(Arc<dyn LlmClient>) -> Arc<dyn LlmClient> + Send + Sync + 'static,
) -> Table {
    let server = server.to_owned();
    let client = OnceLock::new();
    let loader = Loader::new()
        .with_environment(move |_| Some(server.clone()))
        .with_client_wrapper(move |_, original| {
            let client: &Arc<dyn LlmClient> = client.get_or_init(|| replace(original));
            Arc::clone(client)
        });
    let suite = Suite::load(measured(&format!("{name}.yaml")), &loader).unwrap();

    let runs = tempfile::tempdir().unwrap();
    let evaluation = Evaluation::new(suite, Store::files(runs.path()));
    let evaluation = evaluation.with_progress(|done, runs| eprintln!("{done} of {runs}"));
    evaluation.run().await.unwrap()
}

/// The table of kept replies, if they are still replies to the requests that are made.
async fn replayed(name: &str) -> Table {
    let calls = kept(measured(&format!("{name}.jsonl")));
    let expected: Vec<_> = calls.iter().map(|call| call.request.clone()).collect();
    let replies = calls
        .into_iter()
        .map(|call| call.response.ok_or_else(|| call.error.unwrap()));
    let client = ScriptedClient::new(replies);
    let played = client.clone();
    let play = move |original: Arc<dyn LlmClient>| {
        let client = client.clone();
        Arc::new(client.with_capabilities(original.capabilities())) as Arc<dyn LlmClient>
    };
    let table = table(name, "http://127.0.0.1:1/v1", play).await;

    let made: Vec<_> = played.requests().iter().map(digest).collect();
    let differs = made
        .iter()
        .zip(&expected)
        .position(|(made, kept)| made != kept);
    assert!(
        made == expected,
        "{name}: request {} of {} isn't the one that the model got when its replies were kept; measure the model again \
         with `MEASURED={name} cargo test -p cogwork-eval --test it measure_a_model -- --ignored`, with its server in \
         OPENAI_BASE_URL (`scripts/local-model`), and write the new table into docs/guide/which-strategy.md",
        differs.unwrap_or(made.len().min(expected.len())) + 1,
        expected.len()
    );
    table
}

/// The table as the guide shows it.
fn rows(table: &Table) -> String {
    let percent = |rate: f64| format!("{:.0} %", rate * 100.0);
    let rows = table.arms.iter().map(|arm| {
        let ([low, high], numbers) = (arm.interval.unwrap(), &arm.numbers);
        let (calls, tokens) = (numbers["calls"], numbers["tokens"]);
        format!(
            "| {} | {} | {:.0} to {} | {calls:.1} | {tokens:.0} |",
            arm.name,
            percent(arm.accuracy.unwrap()),
            low * 100.0,
            percent(high),
        )
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_tables_of_the_guide_are_made_again() {
    let guide = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/guide/which-strategy.md"
    );
    let guide = fs::read_to_string(guide).unwrap();
    for name in ["qwen2.5-coder", "smollm2"] {
        let table = replayed(name).await;
        eprintln!("{table}");
        let rows = rows(&table);
        assert!(
            guide.contains(&rows),
            "{name}: expected in the guide:\n{rows}"
        );
    }
}

/// Measures a model: `MEASURED=smollm2 cargo test -p cogwork-eval --test it measure_a_model -- --ignored
/// --nocapture`, with its server in OPENAI_BASE_URL (see `scripts/local-model`).
#[tokio::test]
#[ignore = "requires the server of a model, in OPENAI_BASE_URL"]
async fn measure_a_model() {
    let name = std::env::var("MEASURED").unwrap();
    let server = std::env::var("OPENAI_BASE_URL").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("calls.jsonl");

    let path = cassette.clone();
    let record = move |original| Arc::new(Recorder::create(original, &path).unwrap()) as _;
    println!("{}", table(&name, &server, record).await);

    let mut calls = kept(cassette);
    for call in &mut calls {
        call.request = digest(&call.request);
    }
    let lines = calls
        .iter()
        .map(|call| serde_json::to_string(call).unwrap() + "\n");
    let folder = std::env::var("MEASURED_IN").map_or_else(|_| measured(""), PathBuf::from);
    fs::write(
        folder.join(format!("{name}.jsonl")),
        lines.collect::<String>(),
    )
    .unwrap();
}
