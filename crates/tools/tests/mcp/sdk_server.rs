//! A server that is written with the SDK, so that it speaks both generations of the protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt};
use serde_json::{Value, json};

#[derive(Clone, Default)]
pub(crate) struct Sdk {
    was_cancelled: Arc<AtomicBool>,
}

/// Serves over standard input and output, until the input is closed.
pub(crate) fn serve_stdio() -> ! {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let service = Sdk::default()
            .serve(rmcp::transport::stdio())
            .await
            .unwrap();
        service.waiting().await.unwrap();
    });
    std::process::exit(0);
}

impl ServerHandler for Sdk {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        ServerConfig::new(capabilities.build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let Value::Object(schema) = schema else {
            unreachable!()
        };
        let names = ["say", "wait", "was_cancelled", "era"];
        let tools = names
            .into_iter()
            .map(|name| Tool::new(name, "A tool.", Arc::new(schema.clone())));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let arguments = request.arguments.unwrap_or_default();

        let result = match request.name.as_ref() {
            "say" => text(arguments["text"].as_str().unwrap_or_default().to_owned()),
            "wait" => {
                context.ct.cancelled().await;
                self.was_cancelled.store(true, Ordering::SeqCst);
                text("cancelled".to_owned())
            }
            "was_cancelled" => text(self.was_cancelled.load(Ordering::SeqCst).to_string()),
            "era" => text(format!("{:?}", context.protocol_version())),
            _ => return Err(ErrorData::invalid_params("unknown tool", None)),
        };
        Ok(result.into())
    }
}
