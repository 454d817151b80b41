//! Servers that are stopped in the middle of a call.

use std::sync::atomic::{AtomicU64, Ordering};

use cogwork_mcp::Server;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::yield_now;

use super::mind::{MINDS, Mind};
use super::support::data;
use crate::support::{Client, call, client_of};

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

async fn connect(folder: &TempDir) -> Client {
    let builder = Server::builder().with_data(folder.path());
    client_of(&builder.open().expect("the server opens")).await
}

/// Answers all questions of the session, and counts the replies that were acknowledged.
async fn solve(client: &Client, mind: &Mind, acknowledged: &AtomicU64) -> Value {
    let mut arguments = mind.beginning();
    arguments["sessionId"] = json!("killed");

    // The session exists already if an earlier server began it, perhaps just now.
    call(client, "begin", arguments).await;
    let session = json!({"sessionId": "killed"});
    let mut view = data(&call(client, "answer", session).await);

    while view["status"] == "open" {
        let question = &view["questions"][0];
        let reply = json!({"question": question["id"], "reply": mind.reply(question)});
        let replies = json!({"sessionId": "killed", "replies": [reply]});
        let result = call(client, "answer", replies).await;

        // A call that was in progress when the server was stopped may have been done.
        view = match result.is_error {
            Some(true) => data(&call(client, "answer", json!({"sessionId": "killed"})).await),
            _ => data(&result),
        };
        let replies = view["budget"]["replies"].as_u64().expect("a number");
        acknowledged.store(replies, Ordering::SeqCst);
    }
    view
}

/// Returns this many polls after the number of acknowledged replies has been reached.
async fn killed_after(acknowledged: &AtomicU64, replies: u64, polls: usize) {
    while acknowledged.load(Ordering::SeqCst) < replies {
        yield_now().await;
    }
    for _ in 0..polls {
        yield_now().await;
    }
}

/// Kills a server after each reply, each time some polls later, and returns the end of the session.
fn solve_with_kills(mind: &Mind, polls: usize) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let acknowledged = AtomicU64::new(0);

    for replies in 0..3 {
        let runtime = runtime();
        runtime.block_on(async {
            let client = connect(&folder).await;
            tokio::select! {
                biased;
                () = killed_after(&acknowledged, replies, polls) => {}
                _ = solve(&client, mind, &acknowledged) => {}
            }
        });
        runtime.shutdown_background();
    }

    runtime().block_on(async {
        let client = connect(&folder).await;
        let before = acknowledged.load(Ordering::SeqCst);
        assert!(before > 0);

        let looked = data(&call(&client, "answer", json!({"sessionId": "killed"})).await);
        let replies = looked["budget"]["replies"].as_u64().expect("a number");
        assert!(replies >= before, "{replies} of {before}");

        solve(&client, mind, &acknowledged).await
    })
}

#[test]
fn a_server_can_be_stopped_between_any_two_polls() {
    for mind in &MINDS {
        let strategy = mind.strategy;

        for polls in [1, 40] {
            let ended = solve_with_kills(mind, polls);
            assert_eq!(ended["status"], "answered", "{strategy} {polls}: {ended}");
            let answer = ended["answer"].as_str().expect("an answer");
            assert_eq!(answer.trim(), mind.answer, "{strategy} {polls}");
        }
    }
}
