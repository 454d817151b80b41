//! Arguments and answers match the schemas that the tools declare.

use boon::{Compiler, Draft, Schemas};
use cogwork_mcp::Server;
use rmcp::model::Tool;
use serde_json::{Value, json};

use crate::support::{Client, call, connect};

async fn tool(client: &Client, name: &str) -> Tool {
    let tools = client.list_all_tools().await.expect("tools");
    let mut tools = tools.into_iter();
    tools.find(|tool| tool.name == name).expect("the tool")
}

fn check(schema: &impl serde::Serialize, instance: &Value) {
    let schema = serde_json::to_value(schema).expect("JSON");
    let mut compiler = Compiler::new();
    compiler.set_default_draft(Draft::V2020_12);
    compiler
        .add_resource("schema.json", schema)
        .expect("a schema");

    let mut schemas = Schemas::new();
    let index = compiler.compile("schema.json", &mut schemas);
    let index = index.expect("a schema");
    if let Err(error) = schemas.validate(instance, index) {
        panic!("{error}");
    }
}

#[tokio::test]
async fn answers_and_refusals_of_think_match_its_schema() {
    let client = connect(Server::builder()).await;
    let tool = tool(&client, "think").await;
    let output = tool.output_schema.as_ref().expect("a schema");

    let mut errors = 0;
    for arguments in [
        json!({"thought": "No session."}),
        json!({"thought": "x", "strategy": "tree_of_thoughts", "stage": "final_response"}),
        json!({"thought": "x", "strategy": "tree_of_thoughts", "purpose": "24"}),
        json!({"thought": "x", "stage": "approach_exploration", "parameters": {"approaches": [
            {"id": "a", "description": "add", "promise": 5},
        ]}}),
        json!({"thought": "x", "stage": "branch_creation", "branchFrom": 2, "branch": "a",
            "parameters": {"approach_id": "a"}}),
        json!({"thought": "x", "stage": "branch_development"}),
        json!({"thought": "x", "branch": "none"}),
        json!({"thought": "x", "strategy": "react"}),
        json!({"thought": "x", "totalThoughts": 9, "needsMoreThoughts": true, "revises": 1}),
        json!({"thought": "x", "nextThoughtNeeded": false}),
    ] {
        check(&tool.input_schema, &arguments);
        let result = call(&client, "think", arguments).await;
        errors += usize::from(result.is_error == Some(true));
        check(output, &result.structured_content.expect("data"));
    }
    assert_eq!(errors, 6);
}
