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

use crate::host;
use crate::support::{call, connect, text};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// The numbers to add.
    numbers: Vec<f64>,
}

fn sum(name: &str) -> impl Tool + use<> {
    function(name, "Adds numbers.", |Sum { numbers }: Sum| async move {
        Ok(numbers.iter().sum::<f64>())
    })
}

/// A tool with any definition that only fails.
struct Failing {
    name: &'static str,
    schema: &'static str,
    is_ready: bool,
}

impl Failing {
    fn new(name: &'static str, schema: &'static str) -> Self {
        Self {
            name,
            schema,
            is_ready: true,
        }
    }
}

#[async_trait]
impl Tool for Failing {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(self.name, "Fails.", self.schema)
    }

    fn ready(&self) -> Result<(), ToolError> {
        match self.is_ready {
            true => Ok(()),
            false => Err(ToolError::unavailable("connect it first")),
        }
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

/// Returns why a server can't be opened.
fn problem(builder: ServerBuilder) -> String {
    let error = builder.open().expect_err("the server is refused");
    error.to_string()
}

#[tokio::test]
async fn added_tools_are_listed_after_the_built_in_ones() {
    let client = connect(with(sum("sum"))).await;

    let tools = client.list_all_tools().await.expect("tools");
    let added = tools.last().expect("a tool");

    assert!(tools.iter().any(|tool| tool.name == "sequentialthinking"));
    assert_eq!(added.name, "sum");
    assert_eq!(added.description.as_deref(), Some("Adds numbers."));
    assert_eq!(added.input_schema["type"], json!("object"));
    assert_eq!(added.input_schema["required"], json!(["numbers"]));
}

#[tokio::test]
async fn added_tools_are_called_next_to_the_built_in_ones() {
    let client = connect(with(sum("sum"))).await;

    let result = call(&client, "sum", json!({"numbers": [1, 2, 3.5]})).await;
    assert_eq!(text(&result), "6.5");
    assert_ne!(result.is_error, Some(true));

    let thought =
        json!({"thought": "a", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false});
    let result = call(&client, "sequentialthinking", thought).await;
    assert_ne!(result.is_error, Some(true));
}

#[tokio::test]
async fn a_tool_that_fails_or_panics_is_an_error_that_the_model_reads() {
    let client = connect(with(Failing::new("print", "{}"))).await;

    let failed = call(&client, "print", json!({})).await;
    let panicked = call(&client, "print", json!({"panic": true})).await;

    assert_eq!(failed.is_error, Some(true));
    assert_eq!(
        text(&failed),
        "the tool `print` failed: there is no paper\u{fffd}[31m"
    );
    assert_eq!(panicked.is_error, Some(true));
    assert_eq!(text(&panicked), "the tool `print` failed: it panicked");
}

#[tokio::test]
async fn a_cancelled_call_is_dropped() {
    let (sender, mut events) = mpsc::unbounded_channel();
    let client = connect(with(Waiting(sender))).await;

    let request = CallToolRequest::new(host::call("wait", json!({})));
    let request = ClientRequest::CallToolRequest(request);
    let options = PeerRequestOptions::no_options();
    let handle = client.send_cancellable_request(request, options).await;
    let handle = handle.expect("the request is sent");
    assert_eq!(events.recv().await, Some("started"));

    handle.cancel(None).await.expect("it is cancelled");
    assert_eq!(events.recv().await, Some("ended"));
}

#[test]
fn names_of_built_in_tools_are_refused() {
    for name in ["sequentialthinking", "reason"] {
        assert_eq!(
            problem(with(sum(name))),
            format!(
                "`{name}` is a built-in tool; choose another name, or leave out the built-in one"
            )
        );
    }
}
