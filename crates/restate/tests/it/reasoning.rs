//! A chain of thought, a strategy and agents end as they do without an engine.

use cogwork::agents::{FlowState, Loader};
use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::flow::Flow;
use cogwork::flow::engine::MemoryJournal;
use cogwork::llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Role, async_trait};
use cogwork::strategies::Solver;
use cogwork::strategies::methods::React;
use cogwork::tools::{ToolError, Tools, function};
use cogwork_quickstart::RuleBasedClient;
use cogwork_restate::Workflow;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::support::server::server;
use crate::support::unique;
use crate::support::worker::{Worker, endpoint};

/// Runs a flow on Restate and in this process, and compares the ends.
async fn ends_in_the_same_way<S>(name: &str, flow: Flow<S>, begin: impl Fn() -> S)
where
    S: Serialize + DeserializeOwned + Send + 'static,
{
    let Some(server) = server() else { return };
    let name = unique(name);
    let mut here = begin();
    let run = flow.begin().with_journal(MemoryJournal::new("a"));
    { run }.finish(&mut here).await.unwrap();

    let workflow = Workflow::new(name.as_str(), flow).unwrap();
    let worker = Worker::start(endpoint(workflow));
    server.register(worker.port).await;
    let client = server.client(&name);
    client.start("a", &begin()).await.unwrap();
    let there: Value = client.attach("a").await.unwrap();

    let here = serde_json::to_value(here).unwrap();
    assert_eq!(without_times(there), without_times(here));
}

fn without_times(state: Value) -> Value {
    match state {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, _)| name != "seconds");
            fields
                .map(|(name, value)| (name, without_times(value)))
                .collect()
        }
        Value::Array(values) => values.into_iter().map(without_times).collect(),
        value => value,
    }
}

#[tokio::test]
async fn a_chain_of_thought() {
    let flow = ChainOfThought::new(RuleBasedClient::new()).into_flow();
    let begin = || Reasoning::new("What is (17 + 4) * 3 - 15% of 80?");
    ends_in_the_same_way("Thought", flow, begin).await;
}

#[tokio::test]
async fn agents_from_a_file() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/files/review.yaml"
    );
    let flow = Loader::new().load(file).unwrap().flow().clone();
    ends_in_the_same_way("Agents", flow, || FlowState::new("the sea")).await;
}

#[tokio::test]
async fn a_strategy_with_a_tool() {
    #[derive(Deserialize, JsonSchema)]
    struct Query {
        query: String,
    }

    let heights = |Query { query }: Query| async move {
        match query.as_str() {
            "Galdhøpiggen" => Ok(2469),
            "Glittertind" => Ok(2452),
            _ => Err(ToolError::failed("nothing found")),
        }
    };
    let search = function("search", "Looks the height of a mountain up.", heights);
    let tools = Tools::new().with(search).unwrap();
    let solver = Solver::new(Climber, React::default()).with_tools(tools);

    let begins = solver.clone();
    let begin = || begins.begin("Which is higher, Galdhøpiggen or Glittertind?");
    ends_in_the_same_way("Strategy", solver.into_flow().unwrap(), begin).await;
}

/// A model whose reply depends on nothing but the number of its earlier ones.
struct Climber;

#[async_trait]
impl LlmClient for Climber {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let messages = request.messages().iter();
        let earlier = messages.filter(|message| message.role() == Role::Assistant);

        Ok(ChatResponse::new(match earlier.count() {
            0 => "thought: I must know both.\naction: search\naction_input: Galdhøpiggen",
            1 => "thought: One is missing.\naction: search\naction_input: Glittertind",
            _ => "thought: 2469 is more.\naction: finish\naction_input: Galdhøpiggen, by 17 m",
        }))
    }
}
