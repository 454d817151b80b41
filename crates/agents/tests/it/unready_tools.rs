//! Tools whose definitions aren't known yet, such as those of a server that isn't connected. The
//! model must not be asked, because it would see a tool without a description.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_agents::{Agent, FlowState};
use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_flow::Flow;
use cogwork_llm::{ScriptedClient, ToolDefinition};
use cogwork_strategies::{Solver, StrategyName};
use cogwork_tools::{Tool, ToolError, Tools, async_trait};
use serde_json::Value;

struct Unready;

#[async_trait]
impl Tool for Unready {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("look", "", "{}")
    }

    fn ready(&self) -> Result<(), ToolError> {
        Err(ToolError::unavailable("connect first"))
    }

    async fn call(&self, _: Value) -> Result<String, ToolError> {
        Ok(String::new())
    }
}

fn tools() -> Tools {
    let boxed: Box<dyn Tool> = Box::new(Unready);
    Tools::new().with(boxed).unwrap()
}

const TOLD: &str = "the tool `look` is not available: connect first";

#[tokio::test]
async fn an_agent_does_not_ask_the_model() {
    let script = ScriptedClient::new(["never"]);
    let agent = Agent::new("agent", script.clone()).with_tools(tools());
    let flow = Flow::builder("flow").start("agent").node("agent", agent);
    let flow = flow.end("agent", "default").build().unwrap();

    let error = flow.run(&mut FlowState::new("Look.")).await.unwrap_err();
    assert!(error.to_string().ends_with(TOLD), "{error}");
    assert!(script.requests().is_empty());
}

#[tokio::test]
async fn a_chain_of_thought_does_not_ask_the_model() {
    let script = ScriptedClient::new(["never"]);
    let node = ChainOfThought::new(script.clone()).with_tools(tools());

    let mut reasoning = Reasoning::new("Look.");
    let error = node.into_flow().run(&mut reasoning).await.unwrap_err();
    assert!(error.to_string().ends_with(TOLD), "{error}");
    assert!(script.requests().is_empty());
}

#[tokio::test]
async fn a_strategy_does_not_ask_the_model() {
    let script = ScriptedClient::new(["never"]);
    let solver = Solver::new(script.clone(), StrategyName::React).with_tools(tools());

    let error = solver.solve("Look.").await.unwrap_err();
    assert!(error.to_string().contains(TOLD), "{error}");
    assert!(script.requests().is_empty());
}
