//! Servers with some of the built-in tools.

use cogwork_llm::ScriptedClient;
use cogwork_mcp::{Server, ServerBuilder};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{Tools, function};
use rmcp::model::GetPromptRequestParams;
use serde::Deserialize;
use serde_json::json;

use crate::support::Client;

#[derive(Deserialize, JsonSchema)]
struct Empty {}

const NONE: [&str; 0] = [];

async fn names(client: &Client) -> Vec<String> {
    let tools = client.list_all_tools().await.expect("tools");
    let names = tools.into_iter().map(|tool| tool.name.into_owned());
    names.collect()
}

async fn with_only(names: &[&'static str]) -> Client {
    let builder = Server::builder().with_built_in_tools(names.iter().copied());
    Client::new(builder).await
}

fn problem(builder: ServerBuilder) -> String {
    let error = builder.open().expect_err("the server is refused");
    error.to_string()
}

#[tokio::test]
async fn only_the_chosen_tools_exist() {
    let client = with_only(&["sequentialthinking"]).await;

    assert_eq!(names(&client).await, ["sequentialthinking"]);
    let refused = client.refused("think", json!({})).await;
    let expected = "there is no tool `think`; expected `sequentialthinking`";
    assert_eq!(refused, expected);
}

#[tokio::test]
async fn by_default_two_tools_take_at_most_a_thousand_tokens() {
    let client = Client::new(Server::builder()).await;
    let tools = client.list_all_tools().await.expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["sequentialthinking", "reason"]);

    // A token has about 4 characters.
    let lengths = tools.iter().map(|tool| {
        let texts = [
            &tool.name,
            tool.description.as_ref().expect("a description"),
        ];
        let texts: usize = texts.map(|text| text.chars().count()).iter().sum();
        let schemas = [Some(&tool.input_schema), tool.output_schema.as_ref()];
        let schemas = schemas.into_iter().flatten();
        let schemas = schemas.map(|schema| serde_json::to_string(schema).expect("JSON").len());
        texts + schemas.sum::<usize>()
    });
    let lengths: Vec<_> = lengths.collect();
    let tokens = lengths.iter().sum::<usize>() / 4;
    assert!(tokens <= 1_000, "{tokens} tokens, {lengths:?}");
}

#[tokio::test]
async fn the_complete_list_of_tools() {
    let builder = Server::builder().with_client(ScriptedClient::default());
    let all = [
        "sequentialthinking",
        "reason",
        "think",
        "think_session",
        "solve",
    ];
    let client = Client::new(builder.with_built_in_tools(all)).await;

    // So that every change of a schema is seen.
    let tools = client.list_tools(None).await.expect("tools");
    let tools = serde_json::to_value(tools).expect("JSON");
    insta::assert_snapshot!(format!("{tools:#}"));
}

#[tokio::test]
async fn prompts_are_for_tools_that_exist() {
    let thinking = with_only(&["think"]).await;
    let prompts = thinking.list_all_prompts().await.expect("prompts");
    let names: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(names.len(), 9);
    assert!(!names.contains(&"loop"));

    let listing = with_only(&["sequentialthinking"]).await;
    let prompts = listing.list_all_prompts().await.expect("prompts");
    assert!(prompts.is_empty());
    let request = GetPromptRequestParams::new("react");
    assert!(listing.get_prompt(request).await.is_err());
}

#[tokio::test]
async fn without_built_in_tools_there_is_nothing_of_them() {
    let client = with_only(&NONE).await;

    let info = client.peer_info().expect("a server");
    assert_eq!(info.instructions, None);
    assert!(info.capabilities.prompts.is_none());
    assert!(info.capabilities.resources.is_none());
    assert!(names(&client).await.is_empty());
    let resources = client.list_all_resources().await.expect("a list");
    assert_eq!(resources, []);
}

#[tokio::test]
async fn a_server_may_have_the_name_of_the_program() {
    let builder = Server::builder().with_name("orders", "1.2.3");
    let client = Client::new(builder).await;

    let info = client.peer_info().expect("a server");
    let server = info.server_info.as_ref().expect("a name");
    assert_eq!(server.name, "orders");
    assert_eq!(server.version, "1.2.3");
}

#[test]
fn unknown_tools_and_names_that_are_taken_are_refused() {
    let own = function("reason", "Reasons.", |_: Empty| async { Ok("reasoned") });
    let tools = Tools::new().with(own).expect("a valid tool");
    let told = [
        problem(Server::builder().with_tools(tools)),
        problem(Server::builder().with_built_in_tools(["thinking"])),
    ];
    insta::assert_snapshot!(told.join("\n"), @"
    `reason` is a built-in tool; choose another name, or leave out the built-in one
    there is no built-in tool `thinking`; expected `sequentialthinking`, `reason`, `think`, `think_session` or `solve`
    ");
}

#[tokio::test]
async fn the_name_of_a_tool_that_is_left_out_is_free() {
    let own = function("solve", "Solves.", |_: Empty| async { Ok("solved") });
    let tools = Tools::new().with(own).expect("a valid tool");
    let builder = Server::builder()
        .with_tools(tools)
        .with_built_in_tools(["think"]);
    let client = Client::new(builder).await;

    assert_eq!(client.accepted("solve", json!({})).await, "solved");

    // The prompts are for the built-in tool of this name, which isn't there.
    let prompts = client.list_all_prompts().await.expect("prompts");
    let shown = format!("{prompts:?}");
    assert!(!shown.contains("`solve`"), "{shown}");
}
