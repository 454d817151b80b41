//! Any calls give the same answers with and without restarts between them.

use std::path::Path;

use cogwork_mcp::{Server, ServerLimits};
use proptest::prelude::*;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::support::{record, thought};
use crate::support::{Client, connect};

/// A call, and whether the server is restarted before it.
#[derive(Debug, Clone)]
struct Step {
    arguments: Value,
    restarts: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..40)
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0_u64..6;
    let revised = prop::option::of(1_u64..6);
    let branch = prop::option::of((1_u64..6, "[a-d2-4]?"));
    let session = "[xy]";
    let arguments = (number, revised, branch, session, any::<bool>(), ".{0,5}");

    (arguments, any::<bool>()).prop_map(|(arguments, restarts)| {
        let (number, revised, branch, session, needed, text) = arguments;
        let mut arguments = thought(json!({
            "thought": text,
            "thoughtNumber": number,
            "nextThoughtNeeded": needed,
            "sessionId": session,
        }));
        if let Some(revised) = revised {
            arguments["revisesThought"] = json!(revised);
        }
        if let Some((from, id)) = branch {
            arguments["branchFromThought"] = json!(from);
            arguments["branchId"] = json!(id);
        }
        Step {
            arguments,
            restarts,
        }
    })
}

/// Limits that are reached soon.
async fn start(folder: &Path, is_strict: bool) -> Client {
    let limits = ServerLimits {
        thoughts: 4,
        branches: 2,
        ..ServerLimits::default()
    };
    let server = Server::builder()
        .with_data(folder)
        .with_limits(limits)
        .with_strict(is_strict);
    connect(server).await
}

async fn results(steps: &[Step], is_strict: bool, restarts: bool) -> Vec<CallToolResult> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut client = start(folder.path(), is_strict).await;

    let mut results = Vec::new();
    for step in steps {
        if restarts && step.restarts {
            client = start(folder.path(), is_strict).await;
        }
        results.push(record(&client, step.arguments.clone()).await);
    }
    results
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn restarts_change_nothing(steps in steps(), is_strict: bool) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let same = runtime.block_on(results(&steps, is_strict, false));
        let restarted = runtime.block_on(results(&steps, is_strict, true));
        prop_assert_eq!(same, restarted);
    }
}
