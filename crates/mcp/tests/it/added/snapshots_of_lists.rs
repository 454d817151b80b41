//! The complete lists, so that every change of a schema is seen.

use cogwork_llm::ScriptedClient;
use cogwork_mcp::Server;
use serde_json::Value;

use crate::support::connect;

#[tokio::test]
async fn the_complete_list_of_tools() {
    let builder = Server::builder().with_client(ScriptedClient::new(["answer: 51"]));
    let client = connect(builder).await;

    let tools = client.list_tools(None).await.expect("tools");
    let tools: Value = serde_json::to_value(tools).expect("JSON");
    insta::assert_snapshot!(format!("{tools:#}"));
}
