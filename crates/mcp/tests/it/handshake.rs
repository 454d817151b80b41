use cogwork_mcp::Server;
use serde_json::json;

use crate::support::{call, connect, text};

#[tokio::test]
async fn an_unknown_tool_is_an_error_that_the_model_reads() {
    let client = connect(Server::builder()).await;

    let result = call(&client, "nope", json!({})).await;

    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).starts_with("there is no tool `nope`"));
}
