//! Strategies as prompts.

use cogwork_mcp::Server;
use rmcp::model::{ContentBlock, GetPromptRequestParams};
use serde_json::{Value, json};

use crate::support::Client;

/// Returns the text of a prompt, or the error.
async fn prompt(client: &Client, name: &str, arguments: Value) -> Result<String, String> {
    let Value::Object(arguments) = arguments else {
        panic!("the arguments are an object");
    };
    let request = GetPromptRequestParams::new(name).with_arguments(arguments);
    let result = client.get_prompt(request).await;
    let result = result.map_err(|error| error.to_string())?;
    match &result.messages[0].content {
        ContentBlock::Text(text) => Ok(text.text.clone()),
        other => panic!("expected a text, got {other:?}"),
    }
}

#[tokio::test]
async fn each_strategy_that_can_be_followed_is_a_prompt() {
    let client = Client::new(Server::builder()).await;
    let prompts = client.list_all_prompts().await.expect("prompts");
    let names: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(names.len(), 9);
    assert!(names.contains(&"loop") && !names.contains(&"self_consistency"));

    for name in names {
        let text = prompt(&client, name, json!({"problem": "2 + 2?"})).await;
        let text = text.expect("a text");
        assert!(
            text.contains(&format!("`strategy` set to `{name}`")),
            "{text}"
        );
        assert!(text.ends_with("The problem:\n\n2 + 2?"), "{text}");
    }
}

#[tokio::test]
async fn a_prompt_is_for_the_tool_that_there_is() {
    for tool in ["reason", "think"] {
        let client = Client::new(Server::builder().with_built_in_tools([tool])).await;
        let text = prompt(&client, "step_back", json!({"problem": "2 + 2?"})).await;
        insta::assert_snapshot!(tool, text.expect("a text"));
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_named() {
    let client = Client::new(Server::builder()).await;

    let unknown = prompt(&client, "tree", json!({"problem": "?"})).await;
    let unknown = unknown.expect_err("an error");
    assert!(
        unknown.contains("`tree_of_thoughts`, or `loop`") || unknown.contains("or `loop`"),
        "{unknown}"
    );

    for arguments in [json!({}), json!({"problem": " "}), json!({"problem": 7})] {
        let missing = prompt(&client, "loop", arguments).await;
        let missing = missing.expect_err("an error");
        assert!(
            missing.contains("`problem` is missing; expected a text"),
            "{missing}"
        );
    }
}
