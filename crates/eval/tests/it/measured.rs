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

fn measured(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/measured")).join(name)
}

/// What a model replied, in the order of the calls. The suites make one call at a time.
#[derive(Serialize, Deserialize)]
struct Outcome {
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<ChatResponse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LlmError>,
}

fn outcomes(path: PathBuf) -> Vec<Outcome> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
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
    let evaluation = evaluation.with_progress(|progress| eprintln!("{progress:?}"));
    evaluation.run().await.unwrap()
}

async fn replayed(name: &str) -> Table {
    let path = measured(&format!("{name}.jsonl"));
    let play = move |original: Arc<dyn LlmClient>| {
        let outcomes = outcomes(path.clone()).into_iter();
        let replies =
            outcomes.map(|outcome| outcome.response.ok_or_else(|| outcome.error.unwrap()));
        let client = ScriptedClient::new(replies).with_capabilities(original.capabilities());
        Arc::new(client) as Arc<dyn LlmClient>
    };
    table(name, "http://127.0.0.1:1/v1", play).await
}

/// The table as the guide shows it.
fn rows(table: &Table) -> String {
    let percent = |rate: f64| format!("{:.0} %", rate * 100.0);
    let rows = table.arms.iter().map(|arm| {
        let ([low, high], numbers) = (arm.interval, &arm.numbers);
        let (calls, tokens) = (numbers["calls"], numbers["tokens"]);
        format!(
            "| {} | {} | {:.0} to {} | {calls:.1} | {tokens:.0} |",
            arm.name,
            percent(arm.accuracy),
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

    // The requests would make a large file, and follow from the suite and the replies.
    let replies = outcomes(cassette).into_iter();
    let lines = replies.map(|reply| serde_json::to_string(&reply).unwrap() + "\n");
    fs::write(
        measured(&format!("{name}.jsonl")),
        lines.collect::<String>(),
    )
    .unwrap();
}
