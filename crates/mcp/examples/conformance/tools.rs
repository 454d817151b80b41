//! Tools by their names.

#![allow(deprecated, reason = "the suite calls what is deprecated, too")]

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};

use crate::asking;
use crate::contents::{
    audio_block, failed, image_block, resource_block, result, text_block, text_result, wire,
};
use crate::fixture::Fixture;

/// The time between two notifications.
const PAUSE: Duration = Duration::from_millis(50);

/// Begins the names of the tools whose first result asks for input.
const ASKING: &str = "test_input_required_result_";

/// The tools that are tasks, and one that isn't.
const TASKS: [&str; 7] = [
    "greet",
    "slow_compute",
    "failing_job",
    "protocol_error_job",
    "confirm_delete",
    "multi_input",
    "test_tool_with_task",
];

/// The tools without arguments.
const PLAIN: [&str; 14] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_error_handling",
    "test_tool_with_progress",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_reconnection",
];

const OF_ASKING: [&str; 8] = [
    "elicitation",
    "sampling",
    "list_roots",
    "request_state",
    "tampered_state",
    "multiple_inputs",
    "multi_round",
    "capabilities",
];

pub(crate) fn list() -> Result<ListToolsResult, ErrorData> {
    let of_asking = OF_ASKING.map(|name| format!("{ASKING}{name}"));
    let names = PLAIN.into_iter().chain(TASKS);
    let names = names.map(str::to_owned).chain(of_asking);
    let nothing = json!({"type": "object"});
    let plain = names.map(|name| tool(&name, nothing.clone()));

    let text = |argument: &str| {
        let properties = Map::from_iter([(argument.to_owned(), json!({"type": "string"}))]);
        json!({"type": "object", "properties": properties, "required": [argument]})
    };
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    let others = [
        tool("test_sampling", text("prompt")),
        tool("test_elicitation", text("message")),
        tool("json_schema_2020_12_tool", rich_schema()),
        tool(
            "test_header",
            json!({"type": "object", "properties": {"region": region}}),
        ),
    ];

    let tools = plain.chain(others).collect::<Result<Vec<_>, _>>();
    Ok(ListToolsResult::with_all_items(tools?))
}

fn tool(name: &str, schema: Value) -> Result<Tool, ErrorData> {
    wire(json!({"name": name, "description": "A tool of the suite", "inputSchema": schema}))
}

/// A schema with many keywords.
fn rich_schema() -> Value {
    let text = json!({"type": "string"});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": text, "city": text},
        }},
        "properties": {
            "name": text,
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": text,
            "email": text,
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

impl Fixture {
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        let client = context.client_capabilities();
        if let Some(name) = name.strip_prefix(ASKING) {
            return self.asking_tool(name, &request, client.as_ref());
        }

        match name.as_ref() {
            "test_simple_text" => text_result("This is a simple text response for testing."),
            "test_image_content" => result(json!([image_block()])),
            "test_audio_content" => result(json!([audio_block()])),
            "test_embedded_resource" => {
                let text = "This is an embedded resource content.";
                result(json!([resource_block(
                    "test://embedded-resource",
                    "text/plain",
                    text
                )]))
            }
            "test_multiple_content_types" => several_contents(),
            "test_error_handling" => {
                let text = "This tool intentionally returns an error for testing";
                Ok(failed(text)?.into())
            }
            "test_tool_with_logging" => logged(context).await,
            "test_logging_tool" => logged_if_asked(context).await,
            "test_tool_with_progress" => with_progress(context).await,
            "test_sampling"
            | "test_elicitation"
            | "test_elicitation_sep1034_defaults"
            | "test_elicitation_sep1330_enums" => {
                asking::legacy_tool(&name, &request, context).await
            }
            "test_missing_capability" => {
                let has_sampling = client.is_some_and(|client| client.sampling.is_some());
                if has_sampling {
                    return text_result("The client has the capability.");
                }
                let needed = ClientCapabilities::builder().enable_sampling().build();
                Err(ErrorData::missing_required_client_capability(needed))
            }
            "test_streaming_elicitation" => {
                self.asking_tool("elicitation", &request, client.as_ref())
            }
            "greet" => {
                let arguments = request.arguments.as_ref();
                let name = arguments.and_then(|arguments| arguments.get("name"));
                let name = name.and_then(Value::as_str).unwrap_or_default();
                text_result(format!("Hello, {name}!"))
            }
            "json_schema_2020_12_tool" | "test_header" | "test_reconnection" => {
                text_result("accepted")
            }
            name if TASKS.contains(&name) => {
                let name = name.to_owned();
                self.task_tool(&name, request, client.as_ref()).await
            }
            _ => Err(ErrorData::invalid_params("no such tool", None)),
        }
    }
}

fn several_contents() -> Result<CallToolResponse, ErrorData> {
    let json = r#"{"test":"data","value":123}"#;
    result(json!([
        text_block("Multiple content types test:"),
        image_block(),
        resource_block("test://mixed-content-resource", "application/json", json),
    ]))
}

async fn log(text: &str, context: &RequestContext<RoleServer>) {
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text));
    // A client that is gone needs no log.
    let _ = context.peer.notify_logging_message(message).await;
}

async fn logged(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    log("Tool execution started", context).await;
    tokio::time::sleep(PAUSE).await;
    log("Tool processing data", context).await;
    tokio::time::sleep(PAUSE).await;
    log("Tool execution completed", context).await;
    text_result("logged")
}

/// Since 2026-07-28, a request asks for log messages.
async fn logged_if_asked(
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if context.meta.log_level().is_some() {
        log("asked for", context).await;
    }
    text_result("done")
}

async fn with_progress(
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    for progress in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, progress).with_total(100.0);
            // A client that is gone needs no progress.
            let _ = context.peer.notify_progress(progress).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
    text_result("finished")
}
