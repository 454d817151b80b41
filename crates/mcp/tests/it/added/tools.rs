//! Tools of a program.

use cogwork_llm::ToolDefinition;
use cogwork_mcp::{Server, ServerBuilder};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{Tool, ToolError, Tools, async_trait, function};
use rmcp::model::{CallToolRequest, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{Client, request, thought};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// The numbers to add.
    numbers: Vec<f64>,
}

fn sum() -> impl Tool {
    function("sum", "Adds numbers.", |Sum { numbers }: Sum| async move {
        Ok(numbers.iter().sum::<f64>())
    })
}

/// A tool that only fails.
struct Failing;

#[async_trait]
impl Tool for Failing {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("print", "Fails.", "{}")
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        if input["panic"] == json!(true) {
            panic!("as asked");
        }
        Err(ToolError::failed("there is no paper\u{1b}[31m"))
    }
}

/// Waits until it is dropped, and tells when it starts and ends.
struct Waiting(mpsc::UnboundedSender<&'static str>);

struct Ended(mpsc::UnboundedSender<&'static str>);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send("ended");
    }
}

#[async_trait]
impl Tool for Waiting {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("wait", "Waits.", "{}")
    }

    async fn call(&self, _: Value) -> Result<String, ToolError> {
        let _ended = Ended(self.0.clone());
        let _ = self.0.send("started");
        std::future::pending().await
    }
}

fn with(tool: impl Tool + 'static) -> ServerBuilder {
    Server::builder().with_tools(Tools::new().with(tool).expect("a valid tool"))
}

#[tokio::test]
async fn added_tools_are_listed_and_called_next_to_the_built_in_ones() {
    let client = Client::new(with(sum())).await;

    let tools = client.list_all_tools().await.expect("tools");
    assert!(tools.iter().any(|tool| tool.name == "sequentialthinking"));
    let added = tools.last().expect("a tool");
    assert_eq!(added.name, "sum");
    assert_eq!(added.description.as_deref(), Some("Adds numbers."));
    assert_eq!(added.input_schema["type"], json!("object"));
    assert_eq!(added.input_schema["required"], json!(["numbers"]));

    let numbers = json!({"numbers": [1, 2, 3.5]});
    assert_eq!(client.accepted("sum", numbers).await, "6.5");
    client.answer(thought(json!({}))).await;
}

#[tokio::test]
async fn a_tool_that_fails_or_panics_is_an_error_that_the_model_reads() {
    let client = Client::new(with(Failing)).await;
    let failed = client.refused("print", json!({})).await;
    let panicked = client.refused("print", json!({"panic": true})).await;

    let expected = "the tool `print` failed: there is no paper\u{fffd}[31m";
    assert_eq!(failed, expected);
    assert_eq!(panicked, "the tool `print` failed: it panicked");
}

#[tokio::test]
async fn a_cancelled_call_is_dropped() {
    let (sender, mut events) = mpsc::unbounded_channel();
    let client = Client::new(with(Waiting(sender))).await;

    let request = CallToolRequest::new(request("wait", json!({})));
    let request = ClientRequest::CallToolRequest(request);
    let options = PeerRequestOptions::no_options();
    let handle = client.send_cancellable_request(request, options).await;
    let handle = handle.expect("the request is sent");
    assert_eq!(events.recv().await, Some("started"));

    handle.cancel(None).await.expect("it is cancelled");
    assert_eq!(events.recv().await, Some("ended"));
}
