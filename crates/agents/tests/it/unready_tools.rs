//! Tools whose definitions aren't known yet, such as those of a server that isn't connected. The
//! model must not be asked, because it would see a tool without a description.

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
    Tools::new().with(Unready).unwrap()
}

const TOLD: &str = "the tool `look` is not available: connect first";

#[tokio::test]
async fn the_model_is_not_asked() {
    let script = ScriptedClient::new(["never"]);
    let agent = Agent::new("agent", script.clone()).with_tools(tools());
    let flow = Flow::builder("flow").start("agent").node("agent", agent);
    let flow = flow.end("agent", "default").build().unwrap();
    let of_agent = flow.run(&mut FlowState::new("Look.")).await.unwrap_err();

    let node = ChainOfThought::new(script.clone()).with_tools(tools());
    let mut reasoning = Reasoning::new("Look.");
    let of_loop = node.into_flow().run(&mut reasoning).await.unwrap_err();

    let solver = Solver::new(script.clone(), StrategyName::React).with_tools(tools());
    let of_strategy = solver.solve("Look.").await.unwrap_err().to_string();

    for told in [of_agent.to_string(), of_loop.to_string(), of_strategy] {
        assert!(told.contains(TOLD), "{told}");
    }
    assert!(script.requests().is_empty());
}
