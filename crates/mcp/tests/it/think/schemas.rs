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

#[tokio::test]
async fn the_schema_of_think_session_has_every_argument() {
    let client = connect(Server::builder()).await;
    let tool = tool(&client, "think_session").await;
    let operations = &tool.input_schema["properties"]["operation"]["enum"];

    for operation in operations.as_array().expect("operations") {
        check(&tool.input_schema, &json!({"operation": operation}));

        // The error for an unknown argument lists those that the operation has.
        let mut arguments = json!({
            "operation": operation,
            "thought": "x",
            "strategy": "react",
            "branch": "main",
            "branches": ["main"],
            "score": 1,
            "query": "x",
            "sessionId": "s",
            "unknown": 1,
        });
        let known = loop {
            let result = call(&client, "think_session", arguments.clone()).await;
            let Some(data) = result.structured_content else {
                break Vec::new();
            };
            let error = &data["error"];
            if error["found"] != "not an argument of this call" {
                break Vec::new();
            }

            let argument = error["argument"].as_str().expect("a name");
            if argument == "unknown" {
                let expected = error["expected"].as_str().unwrap_or_default();
                break names(expected);
            }
            let arguments = arguments.as_object_mut().expect("an object");
            arguments.remove(argument);
        };
        assert!(!known.is_empty(), "{operation}");
        for name in known {
            let properties = &tool.input_schema["properties"];
            assert!(properties.get(&name).is_some(), "{operation}: {name}");
        }
    }
}

/// Returns the names in a list such as `` `a` or `b` ``.
fn names(list: &str) -> Vec<String> {
    let quoted = list.split('`').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}
