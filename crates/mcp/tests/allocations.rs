//! The work of a thought, counted as allocations.

#![allow(
    clippy::expect_used,
    clippy::panic,
    dead_code,
    unreachable_pub,
    reason = "the helpers of tests may, and not all of them are used here"
)]

#[path = "it/support.rs"]
mod support;

use allocation_counter::{AllocationInfo, measure};
use cogwork_mcp::Server;
use serde_json::json;
use support::{Client, call, connect};
use tokio::runtime::{Builder, Runtime};

fn think(runtime: &Runtime, client: &Client) {
    let thought = json!({"strategy": "linear", "thought": "The same as before."});
    let answer = runtime.block_on(call(client, "think", thought));
    assert_eq!(answer.is_error, Some(false));
}

/// Returns the work of a thought, without that of lists that happen to grow.
fn work(runtime: &Runtime, client: &Client) -> AllocationInfo {
    let thoughts = (0..20).map(|_| measure(|| think(runtime, client)));
    thoughts
        .min_by_key(|work| work.bytes_total)
        .expect("some thoughts")
}

#[test]
fn a_thought_costs_the_same_in_a_long_session() {
    let runtime = { Builder::new_current_thread() }.enable_all().build();
    let runtime = runtime.expect("a runtime");
    let client = runtime.block_on(connect(Server::builder()));
    let short = work(&runtime, &client);

    for _ in 0..600 {
        think(&runtime, &client);
    }
    let long = work(&runtime, &client);

    // Numbers have more digits.
    assert!(long.count_total <= short.count_total + 5, "{long:?}");
    assert!(long.bytes_total <= short.bytes_total + 500, "{long:?}");
}
