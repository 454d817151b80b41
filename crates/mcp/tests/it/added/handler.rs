//! A handler of a program, for all that the server itself doesn't have.

use cogwork_mcp::Server;
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{Tools, function};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, ServerNotification,
    SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde::Deserialize;
use serde_json::json;

use crate::host::{self, Era, Host};
use crate::support::{call, connect, text};

#[derive(Deserialize, JsonSchema)]
struct Empty {}

/// A handler with two pages of tools and of resources.
#[derive(Default)]
struct Orders {
    /// The name of a tool that is known before it is asked for.
    known: Option<&'static str>,
}

fn tool(name: &'static str) -> Tool {
    Tool::new(name, "A tool of the handler", JsonObject::new())
}

/// Returns one of two pages, and the cursor of the next one.
fn page<T>(
    request: Option<PaginatedRequestParams>,
    first: Vec<T>,
    second: Vec<T>,
) -> (Vec<T>, Option<String>) {
    match request.and_then(|request| request.cursor).as_deref() {
        None => (first, Some("second".to_owned())),
        Some("second") => (second, None),
        Some(cursor) => panic!("an unknown cursor: {cursor}"),
    }
}

impl ServerHandler for Orders {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities).with_instructions("Orders have numbers.")
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // The server has a tool of the same name as the first one.
        let first = vec![tool("think"), tool("picture")];
        let (tools, next) = page(request, first, vec![tool("late"), tool("begin")]);
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.known.filter(|known| *known == name).map(tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            "picture" => {
                let image = ContentBlock::image("aGVsbG8=", "image/png");
                Ok(CallToolResult::success(vec![image]).into())
            }
            "late" => {
                let token = context.meta.get_progress_token().expect("a token");
                let half = ProgressNotificationParam::new(token, 0.5).with_message("half");
                context
                    .peer
                    .notify_progress(half)
                    .await
                    .expect("it is sent");
                Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into())
            }
            "panic" => panic!("as asked"),
            name => Err(ErrorData::invalid_params(format!("no tool {name}"), None)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let first = vec![Resource::new("orders://open", "open")];
        let second = vec![Resource::new("orders://sent", "sent")];
        let (resources, next) = page(request, first, second);
        let mut result = ListResourcesResult::with_all_items(resources);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("orders://{number}", "order");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = ResourceContents::text("order 7", request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = Prompt::new("complain", Some("A complaint"), None);
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let message = PromptMessage::new_text(Role::User, "It is late.");
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = CompletionInfo::new(vec!["7".to_owned()]);
        Ok(CompleteResult::new(values.expect("few values")))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sent = context
            .sink()
            .notify_resource_updated("orders://open")
            .await;
        sent.expect("it is sent");
        context.cancelled().await;
        Ok(())
    }
}

fn server() -> Server {
    let builder = Server::builder().with_handler(Orders::default());
    builder.open().expect("the server opens")
}

#[tokio::test]
async fn the_lists_of_the_handler_follow_those_of_the_server() {
    for era in Era::BOTH {
        let client = Host::connect(&server(), era).await.client;

        let tools = client.list_all_tools().await.expect("tools");
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(
            names,
            [
                "sequentialthinking",
                "think",
                "think_session",
                "begin",
                "answer",
                "picture",
                "late"
            ]
        );

        let resources = client.list_all_resources().await.expect("resources");
        let uris: Vec<_> = resources
            .iter()
            .map(|resource| resource.uri.as_str())
            .collect();
        assert_eq!(uris.first(), Some(&"cogwork://strategies/linear"));
        assert!(
            uris.ends_with(&["orders://open", "orders://sent"]),
            "{uris:?}"
        );

        let templates = client
            .list_all_resource_templates()
            .await
            .expect("templates");
        let last = templates.last().expect("a template");
        assert_eq!(last.uri_template, "orders://{number}");

        let prompts = client.list_all_prompts().await.expect("prompts");
        assert_eq!(prompts.last().expect("a prompt").name, "complain");
    }
}

#[tokio::test]
async fn the_handler_comes_after_the_last_page_of_sessions() {
    let server = server();
    let client = Host::connect(&server, Era::Initialize).await.client;
    for number in 0..150 {
        let arguments = json!({
            "thought": "a", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false,
            "sessionId": format!("s{number}"),
        });
        let request = host::call("sequentialthinking", arguments);
        client.call_tool(request).await.expect("a result");
    }

    let resources = client.list_all_resources().await.expect("resources");
    let of_orders = |resource: &&Resource| resource.uri.starts_with("orders://");
    let sessions = resources
        .iter()
        .filter(|resource| resource.uri.contains("://sessions/"));

    assert_eq!(sessions.count(), 150);
    assert_eq!(resources.iter().filter(of_orders).count(), 2);
    assert_eq!(resources.last().expect("a resource").uri, "orders://sent");
}

#[tokio::test]
async fn calls_go_to_the_server_first_and_then_to_the_handler() {
    let client = connect(Server::builder().with_handler(Orders::default())).await;

    let own = call(&client, "think", json!({})).await;
    assert!(text(&own).contains("thought"), "{}", text(&own));

    let picture = call(&client, "picture", json!({})).await;
    let image = picture.content.first().and_then(ContentBlock::as_image);
    assert_eq!(image.expect("an image").mime_type, "image/png");

    let unknown = client.call_tool(CallToolRequestParams::new("nope")).await;
    let error = unknown.expect_err("an error").to_string();
    assert!(error.contains("no tool nope"), "{error}");
}

#[tokio::test]
async fn a_panic_of_the_handler_is_an_error_of_the_protocol() {
    let client = connect(Server::builder().with_handler(Orders::default())).await;

    let panicked = client.call_tool(CallToolRequestParams::new("panic")).await;
    let error = panicked.expect_err("an error").to_string();
    assert!(error.contains("the handler panicked"), "{error}");

    let next = client
        .call_tool(CallToolRequestParams::new("picture"))
        .await;
    assert!(next.is_ok());
}

#[tokio::test]
async fn the_handler_reports_progress() {
    for era in Era::BOTH {
        let mut host = Host::connect(&server(), era).await;

        let result = host.client.call_tool(host::call("late", json!({}))).await;

        assert!(result.is_ok());
        assert_eq!(host.progress(), [(0.5, "half".to_owned())]);
    }
}

#[tokio::test]
async fn resources_prompts_and_completions_of_the_handler() {
    for era in Era::BOTH {
        let client = Host::connect(&server(), era).await.client;

        let read = ReadResourceRequestParams::new("orders://open");
        let read = client.read_resource(read).await.expect("a resource");
        let shown = format!("{read:?}");
        assert!(shown.contains("order 7"), "{shown}");
        let own = ReadResourceRequestParams::new("cogwork://strategies/react");
        let own = client.read_resource(own).await.expect("a resource");
        assert!(!format!("{own:?}").contains("order 7"));

        let prompt = client
            .get_prompt(GetPromptRequestParams::new("complain"))
            .await;
        assert!(format!("{prompt:?}").contains("It is late."));

        let values = client.complete_resource_argument("orders://{number}", "number", "", None);
        assert_eq!(values.await.expect("values").values, ["7"]);
        let own =
            client.complete_resource_argument("cogwork://strategies/{name}", "name", "rea", None);
        assert_eq!(own.await.expect("values").values, ["react"]);
    }
}

#[tokio::test]
async fn the_handler_notifies_clients_without_a_handshake() {
    let host = Host::connect(&server(), Era::Discover).await;

    let filter = SubscriptionFilter::builder().resource_subscription("orders://open");
    let subscription = host.client.listen(filter.build()).await;

    let updated = subscription.expect("accepted").next().await;
    match updated.expect("a notification") {
        Some(ServerNotification::ResourceUpdatedNotification(updated)) => {
            assert_eq!(updated.params.uri, "orders://open");
        }
        other => panic!("expected an update, got {other:?}"),
    }
}

#[tokio::test]
async fn the_capabilities_and_instructions_are_those_of_both() {
    let none: [&str; 0] = [];
    let builder = Server::builder().with_handler(Orders::default());
    let client = connect(builder.with_built_in_tools(none)).await;

    let info = client.peer_info().expect("a server");
    assert_eq!(info.instructions.as_deref(), Some("Orders have numbers."));
    assert!(info.capabilities.prompts.is_some());
    assert!(info.capabilities.logging.is_none());
    assert!(!info.capabilities.supports_tasks());

    let tools = client.list_all_tools().await.expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["think", "picture", "late", "begin"]);
}

#[test]
fn names_that_the_handler_is_known_to_have_are_refused() {
    let orders = |name| Orders { known: Some(name) };
    let problem = Server::builder().with_handler(orders("think")).open();
    assert_eq!(
        problem.expect_err("it is refused").to_string(),
        "`think` is a built-in tool; choose another name, or leave out the built-in one"
    );

    let same = function("late", "Waits.", |_: Empty| async { Ok("") });
    let tools = Tools::new().with(same).expect("a valid tool");
    let problem = Server::builder()
        .with_tools(tools)
        .with_handler(orders("late"))
        .open();
    assert_eq!(
        problem.expect_err("it is refused").to_string(),
        "two tools have the name `late`, one of them in the handler; choose another name"
    );
}
