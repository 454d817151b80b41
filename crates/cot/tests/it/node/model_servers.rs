//! The loop on imitations of model servers, which want back what they sent.
#![cfg(feature = "http")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use std::sync::Arc;

use cogwork_cot::ChainOfThought;
use cogwork_llm::LlmClient;
use serde_json::json;

use crate::node::support::{FIRST, LAST, SECOND, solve};
use crate::node::tools::tools;

#[path = "../../../../llm/tests/servers/mod.rs"]
mod servers;
use servers::claude::Claude;
use servers::{ROWS, Reply, Row, Server, claude_client};

fn thinks(text: &str) -> Reply {
    Reply::says(text).thinks("OPAQUE thought")
}

fn client(row: &Row, server: &Server) -> Arc<dyn LlmClient> {
    Arc::from((row.client)(server.url(), "model-1"))
}

#[tokio::test]
async fn the_loop_with_tools_serves_on_every_server() {
    for row in ROWS {
        let call = || thinks("").calls("multiply", json!({"factors": [12, 12]}));
        let replies = vec![call(), call(), thinks(FIRST), call(), thinks(LAST)];
        let server = row.start(replies).await;
        let node = ChainOfThought::new(client(&row, &server)).with_tools(tools());
        let reasoning = solve(node).await;

        let refusals = server.refusals();
        assert!(
            refusals.iter().all(|text| row.is_mended(text)),
            "{}: {refusals:?}",
            row.name
        );
        assert_eq!(reasoning.answer(), Some("150"), "{}", row.name);
    }
}

/// The prompt of a turn tells what was thought; it returns no block of an earlier conversation.
#[tokio::test]
async fn twenty_turns_with_claude_return_no_block_of_another_conversation() {
    let mut replies = vec![thinks(SECOND); 19];
    replies.push(thinks(LAST));
    let server = Server::start(Claude::forgiving(), replies).await;
    let client: Arc<dyn LlmClient> = Arc::from(claude_client(server.url(), "model-1"));
    let reasoning = solve(ChainOfThought::new(client)).await;

    assert_eq!(server.refusals(), [""; 0]);
    assert_eq!(reasoning.thoughts().len(), 20);
}
